import JSON
package import Ledger
import LegacyAnswers
package import Purchases
import Receipts
package import Signing

package struct ComposedResponse: Sendable {
  package let body: [UInt8]
  package let status: Int64
  /// `nil` for a status that needed no data.
  package let source: ResponseSource?
  package let reasons: [StalenessReason]
  /// The receipt that it answers, or cannot answer now; `nil` for a rejected request.
  package private(set) var receipt: SignedReceipt?
  /// The time at which its receipt was parsed; `nil` for a response after Apple's failure.
  package private(set) var readAt: ContinuousClock.Instant?

  package init(body: [UInt8], status: Int64, source: ResponseSource?, reasons: [StalenessReason] = []) {
    self.body = body
    self.status = status
    self.source = source
    self.reasons = reasons
  }

  /// Returns the response with its posted receipt, which may be the only source of its content while Apple is not
  /// asked.
  ///
  /// - Parameter readAt: the time of parsing; nil if Apple was asked first.
  func about(_ receipt: SignedReceipt?, readAt: ContinuousClock.Instant? = nil) -> Self {
    guard source != nil || isOwnFailure else { return self }
    var reply = self
    reply.receipt = receipt
    reply.readAt = readAt
    return reply
  }

  package init(status: Int64, in environment: Environment, reasons: [StalenessReason] = []) {
    self.init(
      body: StatusDecision.body(status, in: environment).encoded(), status: status, source: nil, reasons: reasons)
  }
}

/// A receipt that Apple signed, in base64, and its app.
package struct SignedReceipt: Sendable {
  package let text: String
  package let bundleID: String
  package let digest: Digest
  private let receipt: Receipt

  /// The digest of the signed content, because one receipt has any number of spellings.
  ///
  /// Computed on demand, which is rare.
  package var voice: Digest { receipt.voice }

  /// Returns `nil` if the receipt's signature is not verified, so that unverified data uses no memory while Apple is
  /// asked.
  init?(_ posted: ParsedCall) {
    guard let receipt = posted.proven, let bundleID = posted.bundleID else { return nil }
    (text, self.bundleID, digest, self.receipt) = (posted.text, bundleID, posted.digest, receipt)
  }
}

package enum CallOutcome: Sendable {
  /// Pass the request to Apple, because the app's stage requires it or the app is unknown.
  case passOn
  /// Switchyard's response in the stage `ramp` failed or took too long: pass the request to Apple.
  case givenUp(AppScope)
  /// Ask Apple; if it does not respond, use the fallback.
  case askApple(FallbackResponse)
  case answered(ComposedResponse)
}

/// The fallback of a request while Apple is asked about it.
package struct FallbackResponse: Sendable {
  enum Content: Sendable {
    case status(Int64)
    /// The request, whose data is read again if Apple does not respond, so that no customer data stays in memory.
    case data(ValidatedCall)
  }

  let content: Content
  /// The scope of the request, by the stages at its arrival.
  let place: CallScope
  /// The posted receipt, stored if Apple does not respond; `nil` if it is unverified.
  package let receipt: SignedReceipt?
  let environment: Environment
  package let reasons: [StalenessReason]
  /// Whether Apple is asked because of a local failure, not because it may have more data.
  package let isOwnFailure: Bool
}
