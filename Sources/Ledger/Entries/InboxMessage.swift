package import Signing
package import Time

/// A message as it arrived: what every fact in the ledger can be derived from again.
package struct InboxMessage: Hashable, Sendable {
  /// How it came, which decides how it is read.
  package enum Kind: Int, Sendable, CaseIterable {
    case notification = 1
    case evidence = 2
    /// What Apple answered to a verifyReceipt call that came through us.
    case verifyReceiptAnswer = 3
    /// What the App Store Server API answered when we asked.
    case apiAnswer = 4
    /// A notification that did not come by itself: Apple's history told of it. It is read as one.
    case notificationHistory = 5
    /// A receipt that somebody posted to verifyReceipt while Apple was not asked, proven by its signature.
    case verifiedReceipt = 6
  }

  /// What it is known by, so that it is kept once: the SHA-256 of its `identity`.
  package let digest: Digest
  package let kind: Kind
  package let body: [UInt8]
  package let receivedAt: Timestamp
  /// Nil for a notification, of which nothing is said but what it says itself.
  package let claim: SubmissionMetadata?

  /// - Parameter identity: what makes two messages one, where that is not the body: the JWS alone, whatever a stranger
  ///   wraps around it; the body together with whose it is said to be, where the body does not say.
  package init(
    kind: Kind, body: [UInt8], identity: [UInt8]? = nil, claim: SubmissionMetadata? = nil, receivedAt: Timestamp
  ) {
    self.init(kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: .sha256(identity ?? body))
  }

  /// - Parameter digest: that of what makes two messages one, as above.
  package init(kind: Kind, body: [UInt8], claim: SubmissionMetadata?, receivedAt: Timestamp, digest: Digest) {
    self.digest = digest
    self.kind = kind
    self.body = body
    self.claim = claim
    self.receivedAt = receivedAt
  }
}
