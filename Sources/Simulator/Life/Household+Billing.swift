import Time

/// Apple's actions at the end of periods, and the customer's decisions about them.
extension Household {
  /// The time after the end of a period in which Apple retries the charge.
  static let retry = Interval.days(60)

  /// Plans the events of the period that has just begun.
  mutating func beginPeriod(_ subscription: Int, of member: Int, in market: AppMarket) {
    members[member].subscriptions[subscription].generation += 1
    members[member].subscriptions[subscription].isFailing = false
    let charge = members[member].charges[Int(members[member].subscriptions[subscription].intention.charge)]
    guard members[member].subscriptions[subscription].sharer == nil, let end = charge.expiresDate else { return }
    planRenewal(subscription, of: member, after: charge.madeAt, end: end)
    let room = (end - charge.purchaseDate).milliseconds / 1_000 - 30 * 3_600
    guard room > 3_600 else { return }
    let habits = market.plan.habits
    let incidents: [(Int, ScheduledEvent.Kind)] = [
      (habits.turnsAutoRenewOff, .turnOff), (habits.upgrades, .upgrade), (habits.downgrades, .downgrade),
      (habits.crossgrades, .crossgrade), (habits.redeemsOffer, .redeem), (habits.asksForRefund, .requestRefund),
      (habits.isExtended, .extend), (habits.restores, .restore), (habits.stopsSharing, .stopSharing),
      (habits.isNotRenewedByApple, .refuseRenewal),
    ]
    for (likelihood, kind) in incidents where isLikely(likelihood) {
      let date = charge.purchaseDate + .seconds(Int64(random.number(in: 3_600..<Int(room))))
      // A purchase in grace is made before its payment.
      planFor(subscription, of: member, kind, at: max(date, charge.madeAt + .minutes(1)))
    }
  }

  /// Renewals are charged up to a day before the period ends.
  mutating func planRenewal(_ subscription: Int, of member: Int, after start: Timestamp, end: Timestamp) {
    let length = Int((end - start).milliseconds / 1_000)
    let early = random.number(in: 0..<max(1, min(86_400, length / 4)))
    planFor(subscription, of: member, .attemptRenewal, at: end - .seconds(Int64(early)))
  }

  /// Plans an event that any other beginning or end of a period cancels.
  mutating func planFor(_ subscription: Int, of member: Int, _ kind: ScheduledEvent.Kind, at date: Timestamp) {
    plan(
      kind, at: date, of: member, index: subscription,
      generation: members[member].subscriptions[subscription].generation)
  }

  mutating func isLikely(_ thousandths: Int) -> Bool { thousandths > 0 && random.number(in: 0..<1_000) < thousandths }

  /// Attempts a renewal, a day or more before the end.
  mutating func attemptRenewal(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.phase == .active, let end = members[member].charges[Int(intention.charge)].expiresDate else {
      return
    }
    let isAgreed = isRenewed(intention, of: member) && intention.priceIncreaseStatus != 0 && intention.refusal == nil
    let canPay = members[member].hasWorkingPayment && !isLikely(market.plan.habits.paymentFails)
    if isAgreed, canPay, !isFull { return renew(subscription, of: member, at: date, in: market) }
    if isAgreed, !canPay { members[member].subscriptions[subscription].isFailing = true }
    planFor(subscription, of: member, .endPeriod, at: end)
  }

  /// Whether the customer's choice allows another period; a commitment overrides the choice.
  private func isRenewed(_ intention: RenewalIntent, of member: Int) -> Bool {
    intention.willRenew || members[member].charges[Int(intention.charge)].commitment?.isOpen ?? false
  }

  /// Refuses the renewal; Apple reports the refusal when the period ends.
  mutating func refuseRenewal(
    _ subscription: Int, because reason: SimulatedRenewal.ExpirationIntent, of member: Int
  ) {
    guard members[member].subscriptions[subscription].intention.phase == .active else { return }
    // The refusal is invisible before then, so no event reports it.
    members[member].subscriptions[subscription].intention.refusal = reason
  }

  mutating func endPeriod(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.phase == .active || intention.phase == .retry else { return }
    // The sharer renews or ends shared subscriptions.
    if !isRenewed(intention, of: member) || isFull || members[member].subscriptions[subscription].sharer != nil {
      return expire(subscription, .expired, .cancelled, of: member, at: date, in: market)
    }
    if let refusal = intention.refusal {
      let kind = refusal == .productNotAvailable ? WorldEvent.Kind.expiredUnsold : .expiredOtherwise
      return expire(subscription, kind, refusal, of: member, at: date, in: market)
    }
    if intention.priceIncreaseStatus == 0 {
      return expire(subscription, .expiredByPrice, .priceIncreaseRefused, of: member, at: date, in: market)
    }
    guard members[member].subscriptions[subscription].isFailing || !members[member].hasWorkingPayment else {
      return renew(subscription, of: member, at: date, in: market)
    }
    failToPay(subscription, of: member, at: date, in: market)
  }

  mutating func renew(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let intention = members[member].subscriptions[subscription].intention
    let end = members[member].charges[Int(intention.charge)].expiresDate ?? date
    payPeriod(.renewed, subscription, of: member, from: end, at: date, in: market)
  }

  /// Pays a failed renewal.
  ///
  /// Within grace the new period begins where the old one ended, later immediately.
  mutating func recover(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.phase == .retry, intention.willRenew, !isFull else { return }
    let end = members[member].charges[Int(intention.charge)].expiresDate ?? date
    let isInGrace = intention.gracePeriodExpiresDate.map { date < $0 } ?? false
    payPeriod(.recovered, subscription, of: member, from: isInGrace ? end : date, at: date, in: market)
  }

  private mutating func payPeriod(
    _ kind: WorldEvent.Kind, _ subscription: Int, of member: Int, from start: Timestamp, at date: Timestamp,
    in market: AppMarket
  ) {
    let intention = members[member].subscriptions[subscription].intention
    begin()
    let place = nextPeriod(
      subscription, Int(intention.nextProduct), offer: Int(intention.nextOffer), of: member, isRenewal: true,
      from: start, at: date, in: market)
    tell(kind, of: member, charge: place, subscription: subscription, at: date)
    beginPeriod(subscription, of: member, in: market)
    share(subscription, of: member, kind, at: date, in: market)
  }

  private mutating func failToPay(_ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let charge = members[member].charges[Int(members[member].subscriptions[subscription].intention.charge)]
    let end = charge.expiresDate ?? date
    let grace = market.grace(after: charge).map { end + $0 }
    begin()
    intend(subscription, of: member) {
      $0.phase = .retry
      $0.expirationIntent = .billingError
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = grace
    }
    let kind = grace == nil ? WorldEvent.Kind.paymentFailed : .paymentFailedWithGrace
    tellAll(kind, subscription, of: member, at: date)
    let giveUp = end + Self.retry
    if let grace { planFor(subscription, of: member, .endGrace, at: grace) }
    planFor(subscription, of: member, .endRetry, at: giveUp)
    if let grace, isLikely(market.plan.habits.paysWithinGrace) {
      planFor(subscription, of: member, .pay, at: moment(between: end + .minutes(1), and: grace - .minutes(1)))
    } else if isLikely(market.plan.habits.paysInRetry) {
      planFor(
        subscription, of: member, .pay, at: moment(between: (grace ?? end) + .minutes(1), and: giveUp - .minutes(1)))
    }
  }

  mutating func moment(between start: Timestamp, and end: Timestamp) -> Timestamp {
    let seconds = Int(max(1_000, (end - start).milliseconds) / 1_000)
    return start + .seconds(Int64(random.number(in: 0..<seconds)))
  }

  /// Ends grace; charging is still retried.
  mutating func endGrace(_ subscription: Int, of member: Int, at date: Timestamp) {
    guard members[member].subscriptions[subscription].intention.phase == .retry else { return }
    begin()
    intend(subscription, of: member) { _ in }
    tellAll(.graceEnded, subscription, of: member, at: date)
  }

  mutating func expire(
    _ subscription: Int, _ kind: WorldEvent.Kind, _ intent: SimulatedRenewal.ExpirationIntent, of member: Int,
    at date: Timestamp, in market: AppMarket
  ) {
    begin()
    intend(subscription, of: member) {
      $0.phase = .lapsed
      $0.willRenew = false
      $0.expirationIntent = intent
      $0.isInBillingRetryPeriod = false
      $0.gracePeriodExpiresDate = nil
      $0.nextOffer = -1
      $0.offerPeriods = 0
    }
    members[member].subscriptions[subscription].generation += 1
    tellAll(kind, subscription, of: member, at: date)
    if isLikely(market.plan.habits.comesBack) {
      planFor(subscription, of: member, .comeBack, at: moment(between: date + .hours(1), and: date + .days(40)))
    }
  }

  /// Sets auto-renewal, unless it has this value or cannot renew.
  mutating func setAutoRenew(
    _ isOn: Bool, _ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.willRenew != isOn, intention.phase == .active || intention.phase == .retry else { return }
    begin()
    intend(subscription, of: member) { $0.willRenew = isOn }
    let kind = isOn ? WorldEvent.Kind.autoRenewTurnedOn : .autoRenewTurnedOff
    tell(kind, of: member, charge: Int(intention.charge), subscription: subscription, at: date)
    guard !isOn else { return }
    if intention.phase == .retry {
      // Charging is no longer retried: the subscription ends with its grace, or now.
      members[member].subscriptions[subscription].generation += 1
      planFor(subscription, of: member, .endPeriod, at: max(date, intention.gracePeriodExpiresDate ?? date))
    } else if isLikely(market.plan.habits.turnsAutoRenewOnAgain),
      let end = members[member].charges[Int(intention.charge)].expiresDate, date + .hours(2) < end
    {
      planFor(subscription, of: member, .turnOn, at: moment(between: date + .minutes(1), and: end - .hours(1)))
    }
  }

  mutating func extend(_ subscription: Int, by interval: Interval, of member: Int, at date: Timestamp) {
    let place = Int(members[member].subscriptions[subscription].intention.charge)
    guard members[member].subscriptions[subscription].intention.phase == .active,
      let end = members[member].charges[place].expiresDate, date < end
    else { return }
    begin()
    change(place, of: member, at: date) { $0.expiresDate = end + interval }
    intend(subscription, of: member) { $0.renewalDate = end + interval }
    members[member].subscriptions[subscription].generation += 1
    tell(.extended, of: member, charge: place, subscription: subscription, at: date)
    planRenewal(subscription, of: member, after: date, end: end + interval)
  }

  mutating func announce(
    _ price: Int64, needsConsent: Bool, _ subscription: Int, of member: Int, at date: Timestamp, in market: AppMarket
  ) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.phase == .active, intention.willRenew else { return }
    begin()
    intend(subscription, of: member) {
      $0.price = price
      $0.priceIncreaseStatus = needsConsent ? 0 : 1
      $0.isConsentAsked = needsConsent
    }
    let kind = needsConsent ? WorldEvent.Kind.priceAnnounced : .priceAgreed
    tell(kind, of: member, charge: Int(intention.charge), subscription: subscription, at: date)
    if needsConsent, isLikely(market.plan.habits.agreesToPrice),
      let end = members[member].charges[Int(intention.charge)].expiresDate
    {
      planFor(subscription, of: member, .answerPrice, at: moment(between: date + .minutes(1), and: end))
    }
  }

  mutating func agreeToPrice(_ subscription: Int, of member: Int, at date: Timestamp) {
    let intention = members[member].subscriptions[subscription].intention
    guard intention.phase == .active, intention.priceIncreaseStatus == 0 else { return }
    begin()
    intend(subscription, of: member) { $0.priceIncreaseStatus = 1 }
    tell(.priceAgreed, of: member, charge: Int(intention.charge), subscription: subscription, at: date)
  }

  private mutating func tellAll(_ kind: WorldEvent.Kind, _ subscription: Int, of member: Int, at date: Timestamp) {
    let place = Int(members[member].subscriptions[subscription].intention.charge)
    tell(kind, of: member, charge: place, subscription: subscription, at: date)
    mirror(kind, subscription, of: member, at: date)
  }
}
