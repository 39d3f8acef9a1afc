import Mappings
import Purchases
import Receipts
import Signing
import Time

/// The signed receipt inside a V1 body or an answer: what it proves, and of when it is.
///
/// It never refuses what it stands in: test bodies have a dummy, old ones a signer nobody knows any more.
struct InnerReceipt {
  private let reading: ReceiptReading
  private let app: String
  private let environment: Environment

  /// Nil where there is none, or what there is is of another app or environment, or no receipt.
  init?(_ text: String?, reader: ReceiptReader, app: String, environment: Environment) {
    guard let text, text != "" else { return nil }
    let reading = reader.read(Array(text.utf8))
    guard let receipt = reading.receipt, receipt.bundleID == app, receipt.environment ?? environment == environment
    else { return nil }
    self.reading = reading
    self.app = app
    self.environment = environment
  }

  /// When it was made, proven or not; an iOS 6 receipt tells nothing but when its transaction was bought.
  var createdAt: Milliseconds? {
    switch reading.receipt {
    case .app(let receipt): receipt.createdAt
    case .transaction, nil: nil
    }
  }

  var isProven: Bool {
    switch reading {
    case .verified: true
    case .refused, .unreadable: false
    }
  }

  /// What it states by itself, as a source of its own; nil unless it is proven.
  func findings(_ vocabulary: Vocabulary, message: Digest) -> Findings? {
    switch reading {
    case .verified(let receipt):
      ReceiptMapping(vocabulary: vocabulary).findings(of: receipt, environment: environment, message: message)
    case .refused, .unreadable: nil
    }
  }
}
