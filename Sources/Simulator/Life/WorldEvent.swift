package import Time

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
  /// The date of the event, on which Apple signs its notification.
  package let date: Timestamp
  /// The arrival of its notification without delays.
  package let due: Timestamp
  /// The number of the event within the household, from 1.
  package let sequence: Int32
  package let member: Int
  /// The index among the member's purchases; -1 without a purchase.
  package let charge: Int32
  /// The index among the member's subscriptions; -1 without one.
  package let subscription: Int32
  package let consumptionRequestReason: String?
}
