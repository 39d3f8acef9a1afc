package import JSON
package import Signing
package import Time
package import Wire

/// Which pages there are, and what is on them.
package protocol PageSource: Sendable {
  associatedtype Answer: Payload
  associatedtype Item: Sendable

  /// The call for one page; `cursor` is the one of the page before, nil for the first.
  func call(after cursor: String?) -> APIRequest<Answer>
  /// Where the next page begins, and whether there is one.
  func cursor(of answer: Answer) -> (next: String?, hasMore: Bool)
  /// Every item of a page, verified.
  func items(of answer: Answer, _ verifying: ItemVerifier) -> [Item]
  /// What makes two items one; nil for one that cannot be told.
  func identity(of item: Item) -> String?
}

/// Proves what Apple signed, for the app that asked.
package struct ItemVerifier: Sendable {
  private let verifier: SignedDataVerifier
  private let bundleID: String
  private let environment: APIEnvironment
  private let now: Timestamp

  /// `now` counts only for what is signed without a date.
  package init(
    verifier: SignedDataVerifier, bundleID: String, environment: APIEnvironment, now: Timestamp
  ) {
    self.verifier = verifier
    self.bundleID = bundleID
    self.environment = environment
    self.now = now
  }

  private var expectation: ExpectedClaims {
    let environment: AppStoreEnvironment =
      switch environment {
      case .production: .production
      case .sandbox: .sandbox
      }
    return ExpectedClaims(bundleID: bundleID, environment: .only(environment))
  }

  /// A signedTransactionInfo; one that names no app is of the app that asked.
  package func transaction(_ jws: String) -> SignedItem {
    var unnamed = expectation
    unnamed.bundleID = nil
    do throws(VerificationError) {
      let verified = try verifier.verifyTransaction(Array(jws.utf8), expecting: unnamed, now: now)
      if let seen = verified.payload["bundleId"]?.string, seen != bundleID {
        throw VerificationError(.wrongBundle, "bundleId is \(seen.prefix(80)) instead of \(bundleID)")
      }
      return SignedItem(jws: jws, outcome: .success(verified))
    } catch { return SignedItem(jws: jws, outcome: .failure(error)) }
  }

  /// A signedRenewalInfo.
  package func renewal(_ jws: String) -> SignedItem {
    do throws(VerificationError) {
      return SignedItem(
        jws: jws, outcome: .success(try verifier.verifyRenewal(Array(jws.utf8), expecting: expectation, now: now)))
    } catch { return SignedItem(jws: jws, outcome: .failure(error)) }
  }

  /// A signedAppTransactionInfo.
  package func appTransaction(_ jws: String) -> SignedItem {
    do throws(VerificationError) {
      return SignedItem(
        jws: jws,
        outcome: .success(try verifier.verifyAppTransaction(Array(jws.utf8), expecting: expectation, now: now)))
    } catch { return SignedItem(jws: jws, outcome: .failure(error)) }
  }

  /// A signedPayload.
  package func notification(_ jws: String) -> Result<VerifiedNotification, VerificationError> {
    do throws(VerificationError) {
      return .success(try verifier.verifyNotification(Array(jws.utf8), expecting: expectation, now: now))
    } catch { return .failure(error) }
  }
}

/// Something that Apple signed: proven, or kept with the reason why not.
package struct SignedItem: Sendable {
  package let jws: String
  package let outcome: Result<Verified<JSONObject>, VerificationError>

  /// What it says; nil when it is not proven.
  package var payload: JSONObject? {
    if case .success(let verified) = outcome { verified.payload } else { nil }
  }

  /// The same, of a transaction.
  package var transaction: TransactionPayload? { payload.map { TransactionPayload($0) } }
}
