package import AppStore
package import Database
package import JSON
package import Ledger
import Purchases
import Seeding
package import Signing
import Wire

/// Tells Apple how a purchase was used.
package struct ConsumptionReport: Sendable {
  /// What became of it.
  package enum Outcome: Equatable, Sendable {
    case taken
    /// Apple does not want it; telling it again does not help.
    case refused(String)
    /// Not told, or nobody knows; to be told again while there is time. Apple takes the same twice.
    case later(String)

    /// What a failure means.
    ///
    /// A refusal after an attempt that Apple may have acted on tells nothing about that attempt: only the next report's
    /// answer will.
    package init(_ failure: APIError) {
      let text = "\(failure); \(failure.nextStep)"
      let isFinal = failure.code == .refused && failure.repetition == .never && !failure.mayHaveActed
      self = isFinal ? .refused(text) : .later(text)
    }
  }

  private let client: AppStoreClient
  private let pool: Pool
  private let keys: Keyring

  package init(client: AppStoreClient, pool: Pool, keys: Keyring) {
    self.client = client
    self.pool = pool
    self.keys = keys
  }

  package func tell(_ answer: JSONObject, about request: ConsumptionRequestRecord) async -> Outcome {
    guard let transactionID = request.transactionID else { return .refused("it is not known which purchase is meant") }
    guard let environment = APIEnvironment(request.scope.environment) else {
      return .refused("Apple's servers know nothing of \(request.scope.environment.rawValue)")
    }
    let askable: (askable: [AppWithAPIKey], unusable: [CredentialTable.Unopened])
    do throws(DatabaseError) {
      askable = try await pool.read { [keys] session throws(DatabaseError) in
        try AppWithAPIKey.all(with: keys, in: session)
      }
    } catch { return .later("the app's key cannot be read: \(error)") }
    guard let app = askable.askable.first(where: { $0.app.id == request.scope.app }) else {
      return .later("the app has no usable API key: `switchyard app add --key-file …`")
    }
    do throws(APIError) {
      _ = try await client.send(
        .consumption(ConsumptionRequest(answer), of: transactionID), as: app.credentials, in: environment)
      return .taken
    } catch { return Outcome(error) }
  }
}
