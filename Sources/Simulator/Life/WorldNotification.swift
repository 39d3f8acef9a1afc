package import Signing
package import Time

/// A notification about a customer, with its due date and both generations.
///
/// It holds the state at the event, regardless of later events. Its payloads are made on demand.
package struct WorldNotification: Sendable {
  package let happening: WorldEvent
  private let household: Household
  private let market: AppMarket

  init(_ happening: WorldEvent, of household: Household, in market: AppMarket) {
    self.happening = happening
    self.household = household
    self.market = market
  }

  package var due: Timestamp { happening.due }
  package var customer: CustomerID { CustomerID(household: Int(household.number), member: happening.member) }
  package var environment: AppStoreEnvironment { household.environment }
  package var app: SimulatedApp { market.app(in: environment) }

  var plan: AppPlan { market.plan }

  /// The purchase as it was at the event; `nil` without one.
  package var transaction: SimulatedTransaction? {
    guard happening.charge >= 0 else { return nil }
    return household.transaction(Int(happening.charge), of: happening.member, asOf: happening.sequence, in: market)
  }

  package var state: CustomerState {
    household.state(of: happening.member, asOf: happening.sequence, at: happening.date, in: market)
  }

  /// The Notifications V2 payload; `nil` if V2 does not report the event.
  package var v2: NotificationDraft? {
    guard let (type, subtype) = happening.kind.v2 else { return nil }
    let (member, date) = (happening.member, happening.date)
    let subscription =
      happening.subscription < 0
      ? nil
      : household.subscription(
        Int(happening.subscription), of: member, asOf: happening.sequence, at: date, in: market)
    let subject = NotificationSubject(
      transaction: transaction?.payload(signedAt: date), renewal: subscription?.renewal.payload(signedAt: date),
      status: subscription?.status, consumptionRequestReason: happening.consumptionRequestReason)
    return NotificationDraft(type, subtype, of: app, at: date, uuid: uuid, .data(subject))
  }

  private var uuid: String {
    var salt = SplitMix64(seed: market.seed ^ 0x6E6F_7469_6679, part: Int(household.number))
    var random = SplitMix64(seed: salt.next(), part: Int(happening.sequence) * 256 + Int(happening.kind.rawValue))
    return random.uuid()
  }
}

extension WorldEvent.Kind {
  /// Notifications V2's type and subtype; `nil` if V2 does not report the event.
  package var v2: (type: String, subtype: String?)? {
    switch self {
    case .subscribed: ("SUBSCRIBED", "INITIAL_BUY")
    case .resubscribed: ("SUBSCRIBED", "RESUBSCRIBE")
    case .renewed: ("DID_RENEW", nil)
    case .recovered: ("DID_RENEW", "BILLING_RECOVERY")
    case .upgraded: ("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
    case .downgradeChosen: ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")
    case .downgradeTakenBack: ("DID_CHANGE_RENEWAL_PREF", nil)
    case .offerRedeemed: ("OFFER_REDEEMED", nil)
    case .upgradedWithOffer: ("OFFER_REDEEMED", "UPGRADE")
    case .downgradeChosenWithOffer: ("OFFER_REDEEMED", "DOWNGRADE")
    case .autoRenewTurnedOff: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
    case .autoRenewTurnedOn: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
    case .paymentFailed: ("DID_FAIL_TO_RENEW", nil)
    case .paymentFailedWithGrace: ("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
    case .graceEnded: ("GRACE_PERIOD_EXPIRED", nil)
    case .expired: ("EXPIRED", "VOLUNTARY")
    case .expiredUnpaid: ("EXPIRED", "BILLING_RETRY")
    case .expiredByPrice: ("EXPIRED", "PRICE_INCREASE")
    case .expiredUnsold: ("EXPIRED", "PRODUCT_NOT_FOR_SALE")
    case .expiredOtherwise: ("EXPIRED", nil)
    case .priceAnnounced: ("PRICE_INCREASE", "PENDING")
    case .priceAgreed: ("PRICE_INCREASE", "ACCEPTED")
    case .bought: ("ONE_TIME_CHARGE", nil)
    case .refundRequested: ("CONSUMPTION_REQUEST", nil)
    case .refunded: ("REFUND", nil)
    case .refundDeclined: ("REFUND_DECLINED", nil)
    case .refundReversed: ("REFUND_REVERSED", nil)
    case .sharingEnded: ("REVOKE", nil)
    case .extended: ("RENEWAL_EXTENDED", nil)
    case .finished, .restored, .accountTokenSet: nil
    }
  }
}
