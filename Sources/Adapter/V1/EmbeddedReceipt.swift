import Mappings
import Purchases
import Receipts
import Signing
import Time

/// The signed receipt inside a V1 body or response, with its proof and date.
///
/// It never rejects its body: test bodies have a dummy, and old ones have a signer that is no longer known.
///
/// **Environment.** An app receipt signs its environment. A transaction receipt of iOS 6 does not, and Apple signs
/// those of the sandbox like those of Production. So it proves a purchase, but not its environment. That is proven only
/// in a fetched response, by the endpoint. Elsewhere it is a claim of the body.
struct EmbeddedReceipt {
  private let reading: ReceiptReadResult
  private let app: String
  private let environment: Environment
  private let isFetched: Bool

  /// Returns `nil` for a missing receipt, an invalid one, or one of another app or environment.
  ///
  /// - Parameters:
  ///   - environment: of the body.
  ///   - isFetched: whether Switchyard fetched the body from Apple's endpoint of this environment.
  init?(_ text: String?, reader: ReceiptReader, app: String, environment: Environment, isFetched: Bool) {
    guard let text, text != "" else { return nil }
    let reading = reader.read(Array(text.utf8))
    guard let receipt = reading.receipt, receipt.bundleID == app,
      receipt.claimedEnvironment ?? environment == environment
    else { return nil }
    self.reading = reading
    self.app = app
    self.environment = environment
    self.isFetched = isFetched
  }

  /// The creation date, proven or not; an iOS 6 receipt has only its transaction's purchase date.
  var createdAt: Timestamp? {
    switch reading.receipt {
    case .app(let receipt): receipt.createdAt
    case .transaction, nil: nil
    }
  }

  var isProven: Bool { proven != nil }

  /// Returns its statements as a separate source; `nil` unless it is proven.
  func findings(_ vocabulary: Vocabulary, message: Digest) -> Findings? {
    proven.flatMap {
      ReceiptMapping(vocabulary: vocabulary).findings(of: $0, environment: environment, message: message)
    }
  }

  /// Returns the statements of a verified receipt without a proven environment, as `source`, the body; otherwise `nil`.
  func claims(_ vocabulary: Vocabulary, as source: Source, receivedAt: Timestamp, message: Digest) -> Findings? {
    guard case .verified(let verified) = reading, !isProven else { return nil }
    return ReceiptMapping(vocabulary: vocabulary).unverifiedFindings(
      of: verified.receipt, as: source, environment: environment, receivedAt: receivedAt, message: message)
  }

  private var proven: VerifiedReceipt? {
    switch reading {
    case .verified(let verified): verified.receipt.environment != nil || isFetched ? verified : nil
    case .refused, .unreadable: nil
    }
  }
}
