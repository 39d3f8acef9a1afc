package import Time

/// One thing that happened to a customer: the log of a world, from which its notifications are made.
package struct WorldEvent: Hashable, Sendable {
  package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    case subscribed, resubscribed, renewed, recovered
    case upgraded, downgradeChosen, downgradeTakenBack, offerRedeemed
    case autoRenewTurnedOff, autoRenewTurnedOn
    case paymentFailed, paymentFailedWithGrace, graceEnded
    case expired, expiredUnpaid, expiredByPrice
    case priceAnnounced, priceAgreed
    case bought, finished, restored
    case refundRequested, refunded, refundDeclined, refundReversed
    case sharingEnded, extended, accountTokenSet
    case upgradedWithOffer, downgradeChosenWithOffer
    case expiredUnsold, expiredOtherwise
  }

  package let kind: Kind
  /// When it happened, and when Apple signs what tells of it.
  package let date: Timestamp
  /// When what tells of it arrives, unless something delays it.
  package let due: Timestamp
  /// From 1 within a household: what is true after it.
  package let sequence: Int32
  package let member: Int
  /// Among the member's purchases; -1: about none.
  package let charge: Int32
  /// Among the member's subscriptions; -1: about none.
  package let subscription: Int32
  /// Apple's word for why a refund was asked for.
  package let consumptionRequestReason: String?
}
