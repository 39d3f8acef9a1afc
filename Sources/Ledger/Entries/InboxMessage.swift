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
  package let receivedAt: Milliseconds
  /// Nil for a notification, of which nothing is said but what it says itself.
  package let claim: Claim?
  /// Under which else it may be stored: by the rule of an earlier build, or before a secret in it was known as one.
  package private(set) var others: Others

  /// Digests of one message that are not its own; the message is a duplicate if it is stored under one of them.
  package struct Others: Hashable, Sendable {
    /// As builds before schema 5 would have stored it; looked for where such a build stored anything.
    package var former: Set<Digest> = []
    /// As it would be stored with a secret in it that was taken out of the body.
    package var unredacted: Set<Digest> = []

    package init(former: Set<Digest> = [], unredacted: Set<Digest> = []) {
      self.former = former
      self.unredacted = unredacted
    }
  }

  /// - Parameter identity: what makes two messages one, where that is not the body: the JWS alone, whatever a stranger
  ///   wraps around it; the body together with whose it is said to be, where the body does not say.
  package init(
    kind: Kind, body: [UInt8], identity: [UInt8]? = nil, others: Others = Others(), claim: Claim? = nil,
    receivedAt: Milliseconds
  ) {
    self.init(
      kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: .sha256(identity ?? body), others: others)
  }

  /// - Parameter digest: that of what makes two messages one, as above.
  package init(
    kind: Kind, body: [UInt8], claim: Claim?, receivedAt: Milliseconds, digest: Digest, others: Others = Others()
  ) {
    self.digest = digest
    self.others = others
    self.others.former.remove(digest)
    self.others.unredacted.remove(digest)
    self.kind = kind
    self.body = body
    self.claim = claim
    self.receivedAt = receivedAt
  }

  /// Returns the message with a body from which secrets were taken; it is known by what was received.
  package func kept(as body: [UInt8]) -> Self {
    Self(kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: digest, others: others)
  }

  /// Returns the message, which was stored by its digest, as one that may be stored under these identities as well.
  package func known(also identity: Digest, former: Set<Digest>) -> Self {
    var message = self
    // Looked for wherever it is: what was set aside before a secret was registered has another identity without it.
    message.others = Others(former: former, unredacted: [identity])
    message.others.former.remove(digest)
    message.others.unredacted.remove(digest)
    return message
  }
}
