package import Answering
package import JSON
package import Ledger
package import Signing
package import Time

/// A request to verifyReceipt, and what Apple answered to it.
package struct ShadowCall: Sendable {
  package let call: VerifyReceiptCall
  /// Apple's answer.
  package let theirs: JSONObject
  /// Before Apple was asked.
  package let askedAt: Timestamp
  /// Bytes of the request and, as values take several times their text, of Apple's answer.
  package let size: Int
  /// Whether an operator has it compared, whatever the app's stage.
  package let isOperators: Bool

  package init(
    _ call: VerifyReceiptCall, theirs: JSONObject, bytes: Int, askedAt: Timestamp, isOperators: Bool = false
  ) {
    self.call = call
    self.theirs = theirs
    self.askedAt = askedAt
    self.isOperators = isOperators
    size = call.body.count + 8 * bytes
  }
}

/// What came of one call.
package struct ComparisonSummary: Sendable {
  package let outcome: ShadowOutcome
  /// Nil where nothing was compared.
  package let judgement: ComparisonTable.Outcome?
  /// Of whom: the same for every receipt of one customer; nil where nothing was compared.
  package let customer: Digest?

  init(_ outcome: ShadowOutcome, _ judgement: ComparisonTable.Outcome? = nil, of customer: Digest? = nil) {
    self.outcome = outcome
    self.judgement = judgement
    self.customer = customer
  }
}

/// What became of a call that was offered for comparison; the names are a metric's labels.
package enum ShadowOutcome: String, Sendable, CaseIterable {
  case compared
  /// The customer's receipt has had its voice in this window.
  case repeated
  /// There was no room for it.
  case shed
  /// It took too long, and was left.
  case late
  /// Apple's answer says nothing of a receipt.
  case noAnswer
  /// Neither answer tells of a purchase of somebody: it would count as a customer who is answered well.
  case namesNobody
  case unproven, unknownApp, notCompared, learned, tooLarge, failed
}
