package import Signing
package import Time

/// A received message.
///
/// All data of the ledger can be derived from messages again.
package struct InboxMessage: Hashable, Sendable {
  /// The way of arrival, which decides how the body is read.
  package enum Kind: Int, Sendable, CaseIterable {
    case notification = 1
    case evidence = 2
    /// Apple's verifyReceipt response to a call that Switchyard relayed.
    case verifyReceiptAnswer = 3
    /// An App Store Server API response that Switchyard fetched.
    case apiAnswer = 4
    /// A notification from Apple's notification history, read like one that Apple sent.
    case notificationHistory = 5
    /// A receipt posted to verifyReceipt without a call to Apple, proven by its signature.
    case verifiedReceipt = 6
  }

  /// The SHA-256 of the message's `identity`, by which it is stored once.
  package let digest: Digest
  package let kind: Kind
  package let body: [UInt8]
  package let receivedAt: Timestamp
  /// `nil` for a notification, which has no metadata of its submission.
  package let claim: SubmissionMetadata?

  /// - Parameter identity: the identity if it is not the body: only the JWS, regardless of text around it, or the body
  ///   with its submission metadata.
  package init(
    kind: Kind, body: [UInt8], identity: [UInt8]? = nil, claim: SubmissionMetadata? = nil, receivedAt: Timestamp
  ) {
    self.init(kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: .sha256(identity ?? body))
  }

  /// - Parameter digest: the SHA-256 of the identity.
  package init(kind: Kind, body: [UInt8], claim: SubmissionMetadata?, receivedAt: Timestamp, digest: Digest) {
    self.digest = digest
    self.kind = kind
    self.body = body
    self.claim = claim
    self.receivedAt = receivedAt
  }
}
