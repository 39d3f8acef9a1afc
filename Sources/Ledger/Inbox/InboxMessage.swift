package import Purchases
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
  }

  /// What it is known by, so that it is kept once: the SHA-256 of its `identity`.
  package let digest: Digest
  package let kind: Kind
  package let body: [UInt8]
  package let receivedAt: Milliseconds
  /// Nil for a notification, of which nothing is said but what it says itself.
  package let claim: Claim?

  /// - Parameter identity: what makes two messages one, where that is not the body: the JWS alone, whatever a stranger
  ///   wraps around it; the body together with whose it is said to be, where the body does not say.
  package init(
    kind: Kind, body: [UInt8], identity: [UInt8]? = nil, claim: Claim? = nil, receivedAt: Milliseconds
  ) {
    self.init(kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: .sha256(identity ?? body))
  }

  init(kind: Kind, body: [UInt8], claim: Claim?, receivedAt: Milliseconds, digest: Digest) {
    self.digest = digest
    self.kind = kind
    self.body = body
    self.claim = claim
    self.receivedAt = receivedAt
  }
}

/// What is to be written for one message, decided before anything is written.
package struct Entry: Sendable {
  package enum Content: Sendable {
    case accepted(Acceptance)
    case quarantined(Refusal)
  }

  /// An accepted message: whose it is, and what it taught.
  package struct Acceptance: Sendable {
    package var app: App.ID
    package var findings: Findings
    package var signedAt: Milliseconds?
    /// What the message calls itself, for people: "DID_RENEW/BILLING_RECOVERY", "history of 20".
    package var title: String
    let body: CompactBody

    package init(_ message: InboxMessage, app: App.ID, findings: Findings, signedAt: Milliseconds?, title: String) {
      body = CompactBody(message.body)
      self.app = app
      self.findings = findings
      self.signedAt = signedAt
      self.title = title
    }
  }

  /// Why a message is kept aside.
  package struct Refusal: Sendable {
    /// Whose quota it counts against.
    package var source: QuarantineSource
    package var code: String
    package var detail: String
    /// The bundle id that it claims; not proven.
    package var claimedApp: String?

    package init(source: QuarantineSource, code: String, detail: String, claimedApp: String?) {
      self.source = source
      self.code = code
      self.detail = detail
      self.claimedApp = claimedApp
    }
  }

  /// For whose endpoints it is.
  package struct Addressee: Hashable, Sendable {
    package var scope: Ledger.Scope
    /// The epoch of the stage by which it was decided to keep it; nil where no stage has a say, as in a replay.
    package var epoch: Int64?
    /// From when on it is to be sent; it is given up three days later.
    package var at: Milliseconds
    /// What vouches for the message, if it is accepted; one that is set aside is unproven, whatever is said here.
    package var proof: ProofClass

    package init(_ scope: Ledger.Scope, epoch: Int64?, at: Milliseconds, proof: ProofClass) {
      self.scope = scope
      self.epoch = epoch
      self.at = at
      self.proof = proof
    }
  }

  package var message: InboxMessage
  package var content: Content
  /// Nil for what is not forwarded: evidence, and what is of no app or environment that is known.
  package var addressee: Addressee?

  package init(_ message: InboxMessage, _ content: Content, addressee: Addressee? = nil) {
    self.message = message
    self.content = content
    self.addressee = addressee
  }

  var isAccepted: Bool {
    switch content {
    case .accepted: true
    case .quarantined: false
    }
  }
}

/// What became of an entry, after commit.
package enum Appended: String, Hashable, Sendable {
  case stored
  /// The same body is in the inbox already; nothing was written.
  case duplicate
  case quarantined
  /// The same body is in quarantine already.
  case quarantinedBefore
  /// Quarantine keeps no more of this source: nothing was written.
  case quarantineFull
  /// The app's stage has changed since it was decided on: nothing was written, and it is to be decided anew.
  case stageChanged

  /// Whether it was written, so that it is in the outbox if it has an addressee.
  var isNew: Bool {
    switch self {
    case .stored, .quarantined: true
    case .duplicate, .quarantinedBefore, .quarantineFull, .stageChanged: false
    }
  }
}
