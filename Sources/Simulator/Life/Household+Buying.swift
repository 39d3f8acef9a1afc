import Time

extension Household {
  /// Creates a charge within the current event and returns its index among the member's.
  ///
  /// - Parameters:
  ///   - original: the charge that began the subscription; nil for one that begins something.
  ///   - start: when the period begins; a renewal is charged before it.
  mutating func charge(
    _ product: Int, offer: Int = -1, of member: Int, continuing original: Charge? = nil, isRenewal: Bool = false,
    quantity: Int = 1, price: Int64? = nil, from start: Timestamp, at date: Timestamp, in market: AppMarket
  ) -> Int {
    let sold = market.plan.products[product]
    let taken = offer < 0 ? nil : sold.offers[offer]
    let id = nextID(market)
    let place = members[member].charges.count
    let price = price ?? market.price(of: product, at: date)
    members[member].charges.append(
      Charge(
        id: id, originalID: original?.originalID ?? id,
        webOrderLineItemID: sold.period == nil ? 0 : nextID(market), product: Int32(product), offer: Int16(offer),
        isShared: false, isRenewal: isRenewal, quantity: Int32(quantity), madeAt: date, purchaseDate: start,
        originalPurchaseDate: original?.originalPurchaseDate ?? start,
        price: taken?.price ?? price, origin: sequence,
        expiresDate: sold.period.map { (taken?.period ?? $0).end(after: start) },
        commitment: sold.commitment(after: isRenewal ? original?.commitment : nil, from: start, atPrice: price),
        modifiedAt: date, sequence: sequence))
    return place
  }

  mutating func subscribe(
    to product: Int, offer: Int = -1, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    begin()
    let place = charge(product, offer: offer, of: member, from: date, at: date, in: market)
    let first = members[member].charges[place]
    members[member].subscriptions.append(
      Subscription(
        originalID: first.id, sharer: nil,
        intentions: [
          RenewalIntent(
            charge: Int32(place), nextProduct: Int32(product), price: market.price(of: product, at: date),
            recentSubscriptionStartDate: date, renewalDate: first.expiresDate, sequence: sequence)
        ]))
    let subscription = members[member].subscriptions.count - 1
    keepOffer(offer, of: product, subscription, of: member, in: market)
    tell(.subscribed, of: member, charge: place, subscription: subscription, at: date)
    beginPeriod(subscription, of: member, in: market)
    if isSharing { share(subscription, of: member, .subscribed, at: date, in: market) }
  }

  /// Buys again after a lapse, a revocation or a failed payment.
  mutating func resubscribe(
    _ subscription: Int, to product: Int, offer: Int = -1, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    begin()
    let place = nextPeriod(
      subscription, product, offer: offer, of: member, isRenewal: false, from: date, at: date, in: market)
    intend(subscription, of: member) { $0.recentSubscriptionStartDate = date }
    tell(.resubscribed, of: member, charge: place, subscription: subscription, at: date)
    beginPeriod(subscription, of: member, in: market)
    if isSharing { share(subscription, of: member, .resubscribed, at: date, in: market) }
  }

  /// Upgrades immediately; Apple refunds the rest of the old period.
  mutating func upgrade(
    _ subscription: Int, to product: Int, offer: Int = -1, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    begin()
    change(Int(members[member].subscriptions[subscription].intention.charge), of: member, at: date) {
      $0.isUpgraded = true
    }
    let place = nextPeriod(
      subscription, product, offer: offer, of: member, isRenewal: false, from: date, at: date, in: market)
    tell(offer < 0 ? .upgraded : .upgradedWithOffer, of: member, charge: place, subscription: subscription, at: date)
    beginPeriod(subscription, of: member, in: market)
    if isSharing { share(subscription, of: member, .upgraded, at: date, in: market) }
  }

  /// Changes the product with the next period.
  mutating func downgrade(
    _ subscription: Int, to product: Int, offer: Int = -1, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    setAutoRenew(true, subscription, of: member, at: date, in: market)
    begin()
    let place = Int(members[member].subscriptions[subscription].intention.charge)
    intend(subscription, of: member) {
      $0.nextProduct = Int32(product)
      $0.price = market.price(of: product, at: date)
      $0.priceIncreaseStatus = nil
    }
    setNextOffer(offer, of: product, subscription, of: member, in: market)
    tell(
      offer < 0 ? .downgradeChosen : .downgradeChosenWithOffer, of: member, charge: place, subscription: subscription,
      at: date)
  }

  mutating func keepProduct(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let place = Int(members[member].subscriptions[subscription].intention.charge)
    let product = members[member].charges[place].product
    begin()
    intend(subscription, of: member) {
      $0.nextProduct = product
      $0.price = market.price(of: Int(product), at: date)
      $0.nextOffer = -1
      $0.offerPeriods = 0
    }
    tell(.downgradeTakenBack, of: member, charge: place, subscription: subscription, at: date)
  }

  mutating func redeem(
    _ offer: Int, _ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    setAutoRenew(true, subscription, of: member, at: date, in: market)
    begin()
    let intention = members[member].subscriptions[subscription].intention
    setNextOffer(offer, of: Int(intention.nextProduct), subscription, of: member, in: market)
    tell(.offerRedeemed, of: member, charge: Int(intention.charge), subscription: subscription, at: date)
  }

  mutating func buyOnce(
    _ product: Int, quantity: Int = 1, of member: Int, at date: Timestamp, in market: AppMarket
  ) -> Int {
    begin()
    let place = charge(product, of: member, quantity: quantity, from: date, at: date, in: market)
    tell(.bought, of: member, charge: place, at: date)
    if isSharing { shareOnce(place, of: member, at: date, in: market) }
    return place
  }

  mutating func finish(_ place: Int, of member: Int, at date: Timestamp) {
    guard !members[member].charges[place].isFinished else { return }
    begin()
    change(place, of: member, at: date) { $0.isFinished = true }
    tell(.finished, of: member, charge: place, at: date)
  }

  /// Gives every purchase a new V1 transaction id.
  mutating func restore(_ member: Int, at date: Timestamp) {
    begin()
    members[member].restores.append((date, sequence))
    tell(.restored, of: member, at: date)
  }

  /// Adds a period within the current event and returns its index among the charges.
  mutating func nextPeriod(
    _ subscription: Int, _ product: Int, offer: Int, of member: Int, isRenewal: Bool, from start: Timestamp,
    at date: Timestamp, in market: AppMarket
  ) -> Int {
    let old = members[member].subscriptions[subscription].intention
    let current = members[member].charges[Int(old.charge)]
    let place = charge(
      product, offer: offer, of: member, continuing: current, isRenewal: isRenewal,
      price: isRenewal ? old.price : nil, from: start, at: date, in: market)
    let next = members[member].charges[place]
    intend(subscription, of: member) { intention in
      intention = RenewalIntent(
        charge: Int32(place), nextProduct: Int32(product),
        willRenew: !isRenewal || old.willRenew, price: isRenewal ? old.price : market.price(of: product, at: date),
        recentSubscriptionStartDate: old.recentSubscriptionStartDate, renewalDate: next.expiresDate, sequence: 0)
    }
    keepOffer(
      offer, of: product, subscription, of: member, left: isRenewal ? Int(old.offerPeriods) - 1 : nil, in: market)
    return place
  }

  private mutating func setNextOffer(
    _ offer: Int, of product: Int, _ subscription: Int, of member: Int, in market: AppMarket
  ) {
    let periods = offer < 0 ? 0 : market.plan.products[product].offers[offer].periods
    intend(subscription, of: member) {
      $0.nextOffer = Int16(offer)
      $0.offerPeriods = Int16(periods)
    }
  }

  /// Keeps the offer of the new period for the next one, if it has periods left.
  private mutating func keepOffer(
    _ offer: Int, of product: Int, _ subscription: Int, of member: Int, left: Int? = nil, in market: AppMarket
  ) {
    guard offer >= 0 else { return }
    let periods = left ?? market.plan.products[product].offers[offer].periods - 1
    guard periods > 0 else { return }
    intend(subscription, of: member) {
      $0.nextOffer = Int16(offer)
      $0.offerPeriods = Int16(periods)
    }
  }
}
