import Mappings
import Purchases
import Receipts
import Signing
import Time

/// The signed receipt inside a V1 body or an answer: what it proves, and of when it is.
///
/// It never refuses what it stands in: test bodies have a dummy, old ones a signer nobody knows any more.
///
/// **Environment.** An app receipt signs its environment. A transaction receipt of iOS 6 does not, and Apple signs those
/// of the sandbox as it signs those of Production. So it proves a purchase, but not in which environment: that is proven
/// only inside an answer that we fetched, by the endpoint that answered. Elsewhere it is a claim of the body around it.
struct EmbeddedReceipt {
  private let reading: ReceiptReadResult
  private let app: String
  private let environment: Environment
  private let isFetched: Bool

  /// Nil where there is none, or what there is is of another app or environment, or no receipt.
  ///
  /// - Parameters:
  ///   - environment: what the body is of.
  ///   - isFetched: whether we fetched the body from Apple's endpoint of this environment.
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

  /// When it was made, proven or not; an iOS 6 receipt tells nothing but when its transaction was bought.
  var createdAt: Timestamp? {
    switch reading.receipt {
    case .app(let receipt): receipt.createdAt
    case .transaction, nil: nil
    }
  }

  /// Whether its purchases are proven, and in this environment.
  var isProven: Bool { proven != nil }

  /// What it states by itself, as a source of its own; nil unless it is proven.
  func findings(_ vocabulary: Vocabulary, message: Digest) -> Findings? {
    proven.flatMap {
      ReceiptMapping(vocabulary: vocabulary).findings(of: $0, environment: environment, message: message)
    }
  }

  /// What a verified receipt says whose environment is not proven, as the word of `source`, the body around it; nil for
  /// every other receipt.
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
