package import JSON
package import Signing
import Time
package import Wire

/// Which pages there are, and what is on them.
package protocol PageSource: Sendable {
  associatedtype Answer: Payload
  associatedtype Item: Sendable

  /// The call for one page; `cursor` is the one of the page before, nil for the first.
  func call(after cursor: String?) -> Call<Answer>
  /// Where the next page begins, and whether there is one.
  func cursor(of answer: Answer) -> (next: String?, hasMore: Bool)
  /// Every item of a page, verified.
  func items(of answer: Answer, _ verifying: ItemVerifier) -> [Item]
  /// What makes two items one; nil for one that cannot be told.
  func identity(of item: Item) -> String?
}

/// Proves what Apple signed, for the app that asked.
package struct ItemVerifier: Sendable {
  let verifier: SignedDataVerifier
  let bundleID: String
  let environment: APIEnvironment
  let now: Milliseconds

  private var expectation: ExpectedClaims {
    let environment: AppStoreEnvironment =
      switch environment {
      case .production: .production
      case .sandbox: .sandbox
      }
    return ExpectedClaims(bundleID: bundleID, environment: .only(environment))
  }

  func transaction(_ jws: String) -> SignedItem {
    do throws(VerificationError) {
      return SignedItem(
        jws: jws,
        outcome: .success(try verifier.verifyTransaction(Array(jws.utf8), expecting: expectation, now: now)))
    } catch { return SignedItem(jws: jws, outcome: .failure(error)) }
  }

  func notification(_ jws: String) -> Result<VerifiedNotification, VerificationError> {
    do throws(VerificationError) {
      return .success(try verifier.verifyNotification(Array(jws.utf8), expecting: expectation, now: now))
    } catch { return .failure(error) }
  }
}

/// A signed transaction of a list: proven, or kept with the reason why not.
package struct SignedItem: Sendable {
  package let jws: String
  package let outcome: Result<Verified<JSONObject>, VerificationError>

  /// What it says; nil when it is not proven.
  package var transaction: TransactionPayload? {
    if case .success(let verified) = outcome { TransactionPayload(verified.payload) } else { nil }
  }
}
