import JSON
package import Ledger
import LegacyAnswers
package import Purchases
import Receipts
package import Signing

/// An answer of our own.
package struct ComposedResponse: Sendable {
  package let body: [UInt8]
  package let status: Int64
  /// Nil for a status that no data was needed for.
  package let source: ResponseSource?
  /// Why what was known may not have been all there is.
  package let reasons: [StalenessReason]
  /// The receipt that it answers, or cannot answer now; nil for a request that is refused.
  package private(set) var receipt: SignedReceipt?
  /// When its receipt was read; nil for a reply that is made because Apple was asked and did not answer.
  package private(set) var readAt: ContinuousClock.Instant?

  package init(body: [UInt8], status: Int64, source: ResponseSource?, reasons: [StalenessReason] = []) {
    self.body = body
    self.status = status
    self.source = source
    self.reasons = reasons
  }

  /// Returns the same with the receipt that was posted: nobody else tells of what is in it while Apple is not asked.
  ///
  /// - Parameter readAt: when it was read; nil where Apple was asked first.
  func about(_ receipt: SignedReceipt?, readAt: ContinuousClock.Instant? = nil) -> Self {
    guard source != nil || isOwnFailure else { return self }
    var reply = self
    reply.receipt = receipt
    reply.readAt = readAt
    return reply
  }

  /// A status without a receipt.
  package init(status: Int64, in environment: Environment, reasons: [StalenessReason] = []) {
    self.init(
      body: StatusDecision.body(status, in: environment).encoded(), status: status, source: nil, reasons: reasons)
  }
}

/// A receipt that Apple signed, in base64, and its app.
package struct SignedReceipt: Sendable {
  package let text: String
  package let bundleID: String
  /// Of the text.
  package let digest: Digest
  private let receipt: Receipt

  /// By what Apple signed, since of one receipt there are any number of spellings.
  ///
  /// Made when it is asked for, which is seldom.
  package var voice: Digest { receipt.voice }

  /// Nil for what nobody vouches for: nothing of that is held while Apple is asked.
  init?(_ posted: ParsedCall) {
    guard let receipt = posted.proven, let bundleID = posted.bundleID else { return nil }
    (text, self.bundleID, digest, self.receipt) = (posted.text, bundleID, posted.digest, receipt)
  }
}

/// What comes of a request.
package enum CallOutcome: Sendable {
  /// The app's stage leaves it to Apple, or nobody can tell whose it is.
  case passOn
  /// It was ours to answer in the stage `ramp`, and we failed or took too long: it is left to Apple.
  case givenUp(AppScope)
  /// Apple is to be asked; if it does not answer, the draft says what can be said without it.
  case askApple(FallbackResponse)
  case answered(ComposedResponse)
}

/// What is known for a request while Apple is asked about it.
package struct FallbackResponse: Sendable {
  enum Content: Sendable {
    case status(Int64)
    /// What is known is read again when Apple does not answer: nothing of a customer is held meanwhile.
    case data(ValidatedCall)
  }

  let content: Content
  /// Whose request it is, by the stages as they were when it came.
  let place: CallScope
  /// What was posted, which is kept if Apple does not answer; nil for what nobody vouches for.
  package let receipt: SignedReceipt?
  let environment: Environment
  package let reasons: [StalenessReason]
  /// Whether Apple is asked because we failed, and not because it may know more.
  package let isOwnFailure: Bool
}
