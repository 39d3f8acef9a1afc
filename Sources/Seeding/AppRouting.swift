package import AppStore
package import Database
package import Ledger
package import Purchases
package import Signing
import Time
import Wire

/// Finds the app that an id is of, when nobody says: what the ledger knows first, then whom Apple says it belongs to.
package struct AppRouting: Sendable {
  package enum ID: Hashable, Sendable {
    /// Any transaction id, or an app transaction's.
    case transaction(String)
    /// As an invoice shows it.
    case order(String)
  }

  /// A registered app, and as whom Apple is asked about it.
  package struct Candidate: Sendable {
    package let app: App
    package let access: Result<AppCredentials, NotAsked.Reason>

    package init(app: App, access: Result<AppCredentials, NotAsked.Reason>) {
      self.app = app
      self.access = access
    }
  }

  /// An app that may be the one, for all that is known.
  package struct NotAsked: Sendable, CustomStringConvertible {
    package enum Reason: Error, Sendable {
      case noKey
      /// A key is sealed, and does not open.
      case unusableKey(String)
      case failed(CallFailure)
      /// Apple answered with something that is not proven to be of the app.
      case unproven(VerificationError)
      /// So many apps were asked about already.
      case tooMany
    }

    package let app: App
    package let reason: Reason

    package var description: String {
      let why =
        switch reason {
        case .noKey: "no key is registered"
        case .unusableKey(let why): "its key does not open (\(why))"
        case .failed(let failure): "\(failure)"
        case .unproven(let error): "Apple's answer is not proven: \(error)"
        case .tooMany: "\(AppRouting.limit) apps were asked about"
        }
      return "\(app.bundleID): \(why)"
    }
  }

  package enum Route: Sendable {
    /// `environment` is nil where the ledger knows the id in several.
    case found(App, Environment?, By)
    /// The ledger knows it of several apps.
    case ambiguous([App])
    /// The ledger does not know it, and of the apps that were asked about Apple does not either.
    case unknown(asked: [App], notAsked: [NotAsked])
  }

  /// Who knew.
  package enum By: Hashable, Sendable {
    case ledger, apple
  }

  /// Apps that Apple is asked about for one id.
  package static let limit = 20

  let pool: Pool
  let client: AppStoreClient
  let verifier: SignedDataVerifier

  package init(pool: Pool, client: AppStoreClient, verifier: SignedDataVerifier) {
    self.pool = pool
    self.client = client
    self.verifier = verifier
  }

  /// The environment in which the ledger knows the id of this app; nil: in none, or in several.
  package func home(of id: ID, in app: App) async throws -> APIEnvironment? {
    let places = try await pool.read { session throws(DatabaseError) in try Self.places(of: id, app, in: session) }
    return places.count == 1 ? APIEnvironment(places[0]) : nil
  }

  private static func places(
    of id: ID, _ app: App, among environments: [Environment] = APIEnvironment.allCases.map { Environment($0) },
    in session: borrowing Session
  ) throws(DatabaseError) -> [Environment] {
    var places: [Environment] = []
    for environment in environments {
      let scope = Scope(app: app.id, environment: environment)
      if try Ledger.knows(id.text, as: id.kinds, in: scope, session) { places.append(environment) }
    }
    return places
  }

  /// - Parameters:
  ///   - candidates: the registered apps, in the order in which they are asked about.
  ///   - environment: where to look alone; nil: Production, then the sandbox.
  package func route(
    _ id: ID, among candidates: [Candidate], in environment: APIEnvironment? = nil
  ) async throws -> Route {
    let environments = (environment.map { [$0] } ?? APIEnvironment.allCases).map { Environment($0) }
    let known = try await pool.read { session throws(DatabaseError) in
      var known: [[Environment]] = []
      for candidate in candidates {
        known.append(try Self.places(of: id, candidate.app, among: environments, in: session))
      }
      return known
    }
    let hits = zip(candidates, known).filter { !$1.isEmpty }
    if hits.count > 1 { return .ambiguous(hits.map(\.0.app)) }
    if let (candidate, places) = hits.first {
      return .found(candidate.app, places.count == 1 ? places[0] : nil, .ledger)
    }
    var (asked, notAsked): ([App], [NotAsked]) = ([], [])
    for candidate in candidates {
      let app = candidate.app
      switch candidate.access {
      case .failure(let reason): notAsked.append(NotAsked(app: app, reason: reason))
      case .success where asked.count == Self.limit: notAsked.append(NotAsked(app: app, reason: .tooMany))
      case .success(let credentials):
        switch await ask(id, as: credentials, in: environment) {
        case .success(let found?): return .found(app, Environment(found), .apple)
        case .success(nil): asked.append(app)
        case .failure(let reason): notAsked.append(NotAsked(app: app, reason: reason))
        }
      }
    }
    return .unknown(asked: asked, notAsked: notAsked)
  }

  /// Where Apple knows it; nil when it knows no such id of this app.
  private func ask(
    _ id: ID, as credentials: AppCredentials, in environment: APIEnvironment?
  ) async -> Result<APIEnvironment?, NotAsked.Reason> {
    var route = EnvironmentRoute(known: environment)
    guard var place = route.current else { return .success(nil) }
    while true {
      do throws(CallFailure) {
        let (jws, receivedAt) = try await id.signed(client, credentials, place)
        let item = ItemVerifier(
          verifier: verifier, bundleID: credentials.bundleID, environment: place, now: receivedAt
        ).transaction(jws)
        switch item.outcome {
        case .success: return .success(place)
        case .failure(let error): return .failure(.unproven(error))
        }
      } catch {
        switch route.failed(error, in: place) {
        case .ask(let next): place = next
        case .giveUp(let failure):
          return Verdict.isUnknown(failure) ? .success(nil) : .failure(.failed(failure))
        }
      }
    }
  }
}

extension AppRouting.ID {
  package var text: String {
    switch self {
    case .transaction(let id), .order(let id): id
    }
  }

  /// As what the ledger may know it.
  fileprivate var kinds: [Alias.Kind] {
    switch self {
    case .transaction: [.transactionID, .appTransactionID]
    case .order: [.orderID]
    }
  }

  /// A transaction that Apple signed for the app, and when it came.
  ///
  /// Apple answers a key of the wrong app with success and nothing in it, or as for an id that nobody has: the same is
  /// thrown for both.
  fileprivate func signed(
    _ client: AppStoreClient, _ credentials: AppCredentials, _ environment: APIEnvironment
  ) async throws(CallFailure) -> (jws: String, receivedAt: Milliseconds) {
    switch self {
    case .transaction(let id):
      let reply = try await client.send(.transactionInfo(id), as: credentials, in: environment, .interactive)
      guard let jws = reply.answer.signedTransactionInfo, !jws.isEmpty else { throw unknown(.getTransactionInfo) }
      return (jws, reply.receivedAt)
    case .order(let id):
      let reply = try await client.send(.order(id), as: credentials, in: environment, .interactive)
      guard let jws = reply.answer.signedTransactions?.first else { throw unknown(.lookUpOrderId) }
      return (jws, reply.receivedAt)
    }
  }

  private func unknown(_ endpoint: Endpoint) -> CallFailure {
    var failure = CallFailure(.refused, endpoint, "an answer with nothing in it")
    failure.errorCode = 4_040_010
    return failure
  }
}
