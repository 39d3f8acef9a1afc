import Time

extension Household {
  mutating func happen(_ event: ScheduledEvent, in market: AppMarket) {
    let (member, index, date) = (Int(event.member), Int(event.index), event.date)
    switch event.kind {
    case .join: join(member, at: date, in: market)
    case .buyOnce: buySomething(member, at: date, in: market)
    case .finish: finish(index, of: member, at: date)
    case .decideRefund: decideRefund(index, of: member, at: date, in: market)
    case .reverseRefund: reverseRefund(index, of: member, at: date)
    case .changePrice: changePrice(market.plan.priceChanges[index], at: date, in: market)
    case .attemptRenewal, .endPeriod, .endGrace, .endRetry, .extend, .turnOff, .turnOn, .upgrade, .downgrade,
      .crossgrade, .takeBack, .redeem, .requestRefund, .pay, .comeBack, .answerPrice, .restore, .stopSharing,
      .refuseRenewal:
      guard members[member].subscriptions[index].generation == event.generation else { return }
      happen(event.kind, to: index, of: member, at: date, in: market)
    }
  }

  private mutating func happen(
    _ kind: ScheduledEvent.Kind, to subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    switch kind {
    case .attemptRenewal: attemptRenewal(subscription, of: member, at: date, in: market)
    case .endPeriod: endPeriod(subscription, of: member, at: date, in: market)
    case .endGrace: endGrace(subscription, of: member, at: date)
    case .endRetry: expire(subscription, .expiredUnpaid, .billingError, of: member, at: date, in: market)
    case .extend: extend(subscription, by: .days(Int64(random.number(in: 1..<91))), of: member, at: date)
    case .turnOff: setAutoRenew(false, subscription, of: member, at: date, in: market)
    case .turnOn: setAutoRenew(true, subscription, of: member, at: date, in: market)
    case .upgrade, .downgrade, .crossgrade: change(subscription, kind, of: member, at: date, in: market)
    case .takeBack: takeBack(subscription, of: member, at: date, in: market)
    case .redeem: redeemSomething(subscription, of: member, at: date, in: market)
    case .requestRefund: askForRefund(subscription, of: member, at: date)
    case .pay: recover(subscription, of: member, at: date, in: market)
    case .comeBack: comeBack(subscription, of: member, at: date, in: market)
    case .answerPrice: agreeToPrice(subscription, of: member, at: date)
    case .restore: restoreByHabit(member, at: date)
    case .stopSharing:
      isSharing = false
      endSharing(by: member, at: date)
    case .refuseRenewal:
      refuseRenewal(subscription, because: random.chance(50) ? .productNotAvailable : .other, of: member)
    case .join, .buyOnce, .finish, .decideRefund, .reverseRefund, .changePrice: break
    }
  }

  mutating func join(_ member: Int, at date: Timestamp, in market: AppMarket) {
    members[member].hasJoined = true
    let habits = market.plan.habits
    if isLikely(habits.subscribes), let product = random.choice(of: market.subscriptions) {
      subscribeByHabit(to: product, of: member, at: date, in: market)
      let others = market.subscriptions.filter { !market.group(of: product).contains($0) }
      if isLikely(habits.subscribesToSecondGroup), let second = random.choice(of: others) {
        subscribeByHabit(to: second, of: member, at: date + .seconds(90), in: market)
      }
    }
    guard habits.buysOnce > 0, !market.oneTimePurchases.isEmpty else { return }
    plan(.buyOnce, at: moment(between: date + .minutes(5), and: date + .days(30)), of: member)
  }

  private mutating func subscribeByHabit(to product: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let group = market.group(of: product)
    // A family member may already share one.
    let isSubscribed = members[member].subscriptions.contains { subscription in
      group.contains(Int(members[member].charges[Int(subscription.intention.charge)].product))
    }
    guard !isSubscribed else { return }
    let offers = market.plan.products[product].offers
    let introductory = offers.firstIndex { $0.kind == .introductory } ?? -1
    let takes = introductory >= 0 && isLikely(market.plan.habits.takesIntroductoryOffer)
    subscribe(to: product, offer: takes ? introductory : -1, of: member, at: date, in: market)
  }

  private mutating func buySomething(_ member: Int, at date: Timestamp, in market: AppMarket) {
    plan(.buyOnce, at: date + .days(30), of: member)
    guard !isFull, isLikely(market.plan.habits.buysOnce), let product = random.choice(of: market.oneTimePurchases)
    else {
      return
    }
    let kind = market.plan.products[product].kind
    let isOwned = members[member].charges.contains { $0.product == Int32(product) && $0.revocation == nil }
    if kind == .nonConsumable, isOwned { return }
    let place = buyOnce(
      product, quantity: kind == .consumable ? random.number(in: 1..<4) : 1, of: member, at: date, in: market)
    if kind == .consumable, isLikely(market.plan.habits.finishesConsumable) {
      plan(.finish, at: moment(between: date + .seconds(5), and: date + .hours(2)), of: member, index: place)
    }
    guard isLikely(market.plan.habits.asksForRefund) else { return }
    let asked = date + .seconds(Int64(random.number(in: 3_600..<7_200)))
    plan(.decideRefund, at: moment(between: asked, and: asked + .days(2)), of: member, index: place)
  }

  private mutating func change(
    _ subscription: Int, _ kind: ScheduledEvent.Kind, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    let intention = members[member].subscriptions[subscription].intention
    let current = members[member].charges[Int(intention.charge)]
    guard intention.phase == .active, !isFull, current.purchaseDate <= date else { return }
    let wanted: ProductChange = kind == .upgrade ? .upgrade : kind == .downgrade ? .downgrade : .crossgrade
    let candidates = market.group(of: Int(current.product)).filter {
      $0 != Int(current.product) && market.change(from: Int(current.product), to: $0) == wanted
    }
    guard let product = random.choice(of: candidates) else { return }
    let offers = market.plan.products[product].offers
    let open = offers.indices.filter { offers[$0].kind == .promotional || offers[$0].kind == .offerCode }
    let offer = isLikely(market.plan.habits.redeemsOfferWithChange) ? random.choice(of: open) ?? -1 : -1
    switch wanted {
    case .upgrade: upgrade(subscription, to: product, offer: offer, of: member, at: date, in: market)
    case .downgrade, .crossgrade:
      downgrade(subscription, to: product, offer: offer, of: member, at: date, in: market)
      if isLikely(market.plan.habits.takesDowngradeBack), let end = current.expiresDate, date + .hours(30) < end {
        planFor(subscription, of: member, .takeBack, at: moment(between: date + .minutes(1), and: end - .hours(25)))
      }
    }
  }

  private mutating func takeBack(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.phase == .active, intention.willRenew,
      intention.nextProduct != members[member].charges[Int(intention.charge)].product
    else { return }
    keepProduct(subscription, of: member, at: date, in: market)
  }

  private mutating func redeemSomething(
    _ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    let intention = members[member].subscriptions[subscription].intention
    let offers = market.plan.products[Int(intention.nextProduct)].offers
    let open = offers.indices.filter { offers[$0].kind == .promotional || offers[$0].kind == .offerCode }
    guard intention.phase == .active, intention.nextOffer < 0, let offer = random.choice(of: open) else { return }
    redeem(offer, subscription, of: member, at: date, in: market)
  }

  private mutating func askForRefund(_ subscription: Int, of member: Int, at date: Timestamp) {
    let place = Int(members[member].subscriptions[subscription].intention.charge)
    guard members[member].charges[place].revocation == nil else { return }
    requestRefund(place, reason: random.element(of: Self.refundReasons), of: member, at: date)
    plan(.decideRefund, at: moment(between: date + .hours(1), and: date + .days(2)), of: member, index: place)
  }

  private static let refundReasons = ["UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "OTHER"]

  private mutating func comeBack(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let intention = members[member].subscriptions[subscription].intention
    let current = members[member].charges[Int(intention.charge)]
    guard intention.phase == .lapsed, !isFull, let product = random.choice(of: market.group(of: Int(current.product)))
    else { return }
    let offers = market.plan.products[product].offers
    let winBack = offers.firstIndex { $0.kind == .winBack } ?? -1
    resubscribe(
      subscription, to: product, offer: random.chance(40) ? winBack : -1, of: member, at: date, in: market)
  }

  private mutating func restoreByHabit(_ member: Int, at date: Timestamp) {
    guard members[member].usesStoreKit1, members[member].restores.count < WorldIdentifiers.restores else { return }
    restore(member, at: date)
  }

  /// Plans the effects of price changes after `date`.
  mutating func planPriceChanges(after date: Timestamp, in market: AppMarket) {
    for (index, change) in market.plan.priceChanges.enumerated() where change.date > date {
      plan(.changePrice, at: change.date, of: 0, index: index)
    }
  }

  private mutating func changePrice(_ change: AppPlan.PriceChange, at date: Timestamp, in market: AppMarket) {
    guard let product = market.product(change.productID) else { return }
    for member in members.indices {
      for subscription in members[member].subscriptions.indices
      where members[member].subscriptions[subscription].sharer == nil
        && members[member].subscriptions[subscription].intention.nextProduct == Int32(product)
      {
        announce(
          change.price, needsConsent: change.needsConsent, subscription, of: member, at: date, in: market)
      }
    }
  }
}

extension SplitMix64 {
  /// Returns a random element; `nil` if empty.
  fileprivate mutating func choice(of places: [Int]) -> Int? { places.isEmpty ? nil : element(of: places) }
}
