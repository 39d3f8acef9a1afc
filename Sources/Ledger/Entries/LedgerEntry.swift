package import Purchases
package import Time

/// The decision for one message, made before the transaction.
package struct LedgerEntry: Sendable {
  package enum Content: Sendable {
    case accepted(AcceptedMessage)
    case quarantined(QuarantineReason)
  }

  package struct AcceptedMessage: Sendable {
    package var app: App.ID
    package var findings: Findings
    package var signedAt: Timestamp?
    /// The name of the message in listings: "DID_RENEW/BILLING_RECOVERY", "history of 20".
    package var title: String

    package init(app: App.ID, findings: Findings, signedAt: Timestamp?, title: String) {
      self.app = app
      self.findings = findings
      self.signedAt = signedAt
      self.title = title
    }
  }

  package struct QuarantineReason: Sendable {
    package var source: QuarantineSource
    package var code: String
    package var detail: String
    /// The claimed bundle ID, unproven.
    package var claimedApp: String?

    package init(source: QuarantineSource, code: String, detail: String, claimedApp: String?) {
      self.source = source
      self.code = code
      self.detail = detail
      self.claimedApp = claimedApp
    }
  }

  /// The app and environment whose endpoints get the message.
  package struct DeliveryTarget: Hashable, Sendable {
    package var scope: AppScope
    /// The epoch of the app's recording at the decision.
    ///
    /// `nil` if it does not matter, as in a replay.
    package var epoch: Int64?
    /// The time from which it is sent.
    ///
    /// Delivery ends three days later.
    package var at: Timestamp
    /// The queue of its forwarding: the trust level of the message, or of a quarantined message's sender.
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
  /// `nil` for messages that are not forwarded: evidence, and messages without a known app or environment.
  package var addressee: DeliveryTarget?
  /// The trust level of an accepted message.
  ///
  /// Default: unproven.
  package var proof: TrustLevel
  /// Whether one of Apple's networks posted it, which proves nothing.
  ///
  /// It decides the commit queue and the quota.
  package var isFromApple = false
  /// Whether a stranger may have created it: it came neither from Apple's networks, nor from a possible proxy, nor from
  /// a network that the operator named.
  package var isOfStranger = false
  /// The priority of the lookup of IDs that only this unverified message names.
  package var claimedIDs = UnconfirmedIDPriority.next
  /// Whether it queues lookups of its IDs.
  ///
  /// A bulk migration queues IDs itself, a few at a time.
  package var queuesIDs = true

  package init(
    _ message: InboxMessage, _ content: Content, addressee: DeliveryTarget? = nil, proof: TrustLevel = .unproven
  ) {
    self.message = message
    self.content = content
    self.addressee = addressee
    self.proof = proof
  }

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
