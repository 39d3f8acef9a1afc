package import Purchases
package import Time

/// What is to be written for one message, decided before anything is written.
package struct LedgerEntry: Sendable {
  package enum Content: Sendable {
    case accepted(AcceptedMessage)
    case quarantined(QuarantineReason)
  }

  /// An accepted message: whose it is, and what it taught.
  package struct AcceptedMessage: Sendable {
    package var app: App.ID
    package var findings: Findings
    package var signedAt: Timestamp?
    /// What the message calls itself, for people: "DID_RENEW/BILLING_RECOVERY", "history of 20".
    package var title: String

    package init(app: App.ID, findings: Findings, signedAt: Timestamp?, title: String) {
      self.app = app
      self.findings = findings
      self.signedAt = signedAt
      self.title = title
    }
  }

  /// Why a message is kept aside.
  package struct QuarantineReason: Sendable {
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
  package struct DeliveryTarget: Hashable, Sendable {
    package var scope: AppScope
    /// The epoch of the app's recording by which it was decided to keep it; nil where it has no say, as in a replay.
    package var epoch: Int64?
    /// From when on it is to be sent; it is given up three days later.
    package var at: Timestamp
    /// In which lane it is forwarded: what vouches for the message, or for whoever sent one that is set aside.
    package var proof: TrustLevel

    package init(_ scope: AppScope, epoch: Int64?, at: Timestamp, proof: TrustLevel) {
      self.scope = scope
      self.epoch = epoch
      self.at = at
      self.proof = proof
    }
  }

  package var message: InboxMessage
  package var content: Content
  /// Nil for what is not forwarded: evidence, and what is of no app or environment that is known.
  package var addressee: DeliveryTarget?
  /// What vouches for the message, if it is accepted; nothing, unless somebody says so.
  package var proof: TrustLevel
  /// Whether it was posted from one of Apple's networks, which proves nothing: it decides beside whom the entry waits, and
  /// how much quarantine may keep.
  package var isFromApple = false
  /// Whether a stranger made it with the app's secret: it came neither from Apple's networks nor from one that may stand for
  /// them or that the operator named.
  package var isOfStranger = false
  /// When Apple is asked about ids that only this message names, where nothing vouches for them.
  package var claimedIDs = UnconfirmedIDPriority.next
  /// Whether Apple is asked about its ids because of it.
  ///
  /// A bulk migration hands ids out by itself, a few at a time.
  package var queuesIDs = true

  package init(
    _ message: InboxMessage, _ content: Content, addressee: DeliveryTarget? = nil, proof: TrustLevel = .unproven
  ) {
    self.message = message
    self.content = content
    self.addressee = addressee
    self.proof = proof
  }

  /// What it teaches, if it is accepted.
  package var findings: Findings? {
    switch content {
    case .accepted(let acceptance): acceptance.findings
    case .quarantined: nil
    }
  }

  var isAccepted: Bool {
    switch content {
    case .accepted: true
    case .quarantined: false
    }
  }
}
