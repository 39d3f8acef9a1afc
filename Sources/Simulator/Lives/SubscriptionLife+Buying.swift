package import Time

/// What the customer does.
extension SubscriptionLife {
  /// The first purchase, or a family member's first access.
  package mutating func begin() -> NotificationDraft { tell("SUBSCRIBED", "INITIAL_BUY", at: current.purchaseDate) }

  /// Buys again after it lapsed, this product or another of the group.
  package mutating func resubscribe(to product: Product? = nil, at date: Milliseconds) -> NotificationDraft {
    charge(for: product ?? current.product, at: date, .purchase)
    renewal.recentSubscriptionStartDate = date
    return tell("SUBSCRIBED", "RESUBSCRIBE", at: date)
  }

  package mutating func setAutoRenew(_ isOn: Bool, at date: Milliseconds) -> NotificationDraft {
    renewal.willRenew = isOn
    return tell("DID_CHANGE_RENEWAL_STATUS", isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED", at: date)
  }

  /// Changes to a higher level at once; what is left of the old period is refunded by Apple.
  package mutating func upgrade(to product: Product, at date: Milliseconds) -> NotificationDraft {
    current.isUpgraded = true
    charge(for: product, at: date, .purchase)
    return tell("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: date)
  }

  /// Changes to a lower level from the next period on.
  package mutating func downgrade(to product: Product, at date: Milliseconds) -> NotificationDraft {
    renewal.nextProduct = product
    return tell("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", at: date)
  }

  /// Takes a downgrade back.
  package mutating func keepProduct(at date: Milliseconds) -> NotificationDraft {
    renewal.nextProduct = current.product
    return tell("DID_CHANGE_RENEWAL_PREF", at: date)
  }

  /// Redeems an offer for the next period while subscribed.
  package mutating func redeem(_ offer: Offer, at date: Milliseconds) -> NotificationDraft {
    renewal.offer = offer
    return tell("OFFER_REDEEMED", at: date)
  }

  /// Agrees to the higher price that was announced.
  package mutating func acceptPriceIncrease(at date: Milliseconds) -> NotificationDraft {
    renewal.priceIncreaseStatus = 1
    return tell("PRICE_INCREASE", "ACCEPTED", at: date)
  }

  /// Asks Apple for the money back; the app is asked how much was used.
  package mutating func requestRefund(
    reason: String = "UNINTENDED_PURCHASE", at date: Milliseconds
  ) -> NotificationDraft {
    tell("CONSUMPTION_REQUEST", at: date, consumptionRequestReason: reason)
  }
}
