import Time

extension ResolvedAction {
  init(
    _ act: ManualAction, _ member: Int, _ household: Household, _ market: AppMarket, _ world: AppStoreWorld
  ) throws(ManualActionError) {
    let person = household.members[member]
    let ids = market.ids(household.environment)

    func subscription(_ id: String?, ofTheirs: Bool = true) throws(ManualActionError) -> Int {
      let found = person.subscriptions.indices.filter { id == nil || String(person.subscriptions[$0].originalID) == id }
      guard let first = found.first else {
        throw ManualActionError(.unknownSubscription, "no subscription \(id ?? "at all")")
      }
      guard found.count == 1 else {
        throw ManualActionError(.ambiguousSubscription, "\(found.count) subscriptions: say which")
      }
      if ofTheirs, person.subscriptions[first].sharer != nil {
        throw ManualActionError(.notTheirs, "the subscription is shared with them")
      }
      return first
    }

    func charge(_ id: String) throws(ManualActionError) -> Int {
      guard let place = world.place(ofTransaction: id, household, member, ids) else {
        throw ManualActionError(.unknownTransaction, "no transaction \(id)")
      }
      return place
    }

    func current(_ place: Int) -> RenewalIntent { person.subscriptions[place].intention }

    switch act {
    case .buy(let product, let offer, let quantity):
      self = try Self.purchase(product, offer, quantity, person, household, market, at: world.now)
    case .setAutoRenew(let isOn, let id):
      let place = try subscription(id)
      let phase = current(place).phase
      guard phase == .active || phase == .retry, current(place).willRenew != isOn else {
        throw ManualActionError(.notNow, "auto-renew has this value already, or nothing renews")
      }
      self = .setAutoRenew(isOn, place)
    case .setPayment(let works): self = .setPayment(works: works)
    case .announcePrice(let price, let needsConsent, let id):
      let place = try subscription(id)
      guard current(place).phase == .active, current(place).willRenew, price >= 0 else {
        throw ManualActionError(.notNow, "nothing will renew at the price")
      }
      self = .announce(price, needsConsent: needsConsent, place)
    case .agreeToPrice(let id):
      let place = try subscription(id)
      guard current(place).phase == .active, current(place).priceIncreaseStatus == 0 else {
        throw ManualActionError(.notNow, "no price waits for consent")
      }
      self = .agree(place)
    case .requestRefund(let id, let reason):
      let place = try charge(id)
      guard person.charges[place].revocation == nil else {
        throw ManualActionError(.notNow, "it was taken back already")
      }
      self = .requestRefund(place, reason: reason)
    case .refund(let id, let percentage, let isForAnIssue):
      let place = try charge(id)
      guard !person.charges[place].isShared else { throw ManualActionError(.notTheirs, "it is shared with them") }
      guard person.charges[place].revocation == nil, (1...100_000).contains(percentage ?? 1) else {
        throw ManualActionError(.notNow, "it was taken back already, or the percentage is not 1 to 100,000")
      }
      self = .refund(place, percentage: percentage, isForAnIssue: isForAnIssue)
    case .declineRefund(let id): self = .declineRefund(try charge(id))
    case .reverseRefund(let id):
      let place = try charge(id)
      guard let kind = person.charges[place].revocation?.kind, kind != .familyRevoke else {
        throw ManualActionError(.notNow, "it is not refunded")
      }
      self = .reverseRefund(place)
    case .refuseRenewal(let isForSale, let id):
      let place = try subscription(id)
      guard current(place).phase == .active else { throw ManualActionError(.notNow, "nothing will renew") }
      self = .refuseRenewal(place, isForSale: isForSale)
    case .extend(let days, let id):
      let place = try subscription(id)
      let end = person.charges[Int(current(place).charge)].expiresDate
      guard (1...90).contains(days), current(place).phase == .active, end.map({ world.now < $0 }) ?? false else {
        throw ManualActionError(.notNow, "1 to 90 days, of a subscription that is active")
      }
      self = .extend(place, days: days)
    case .share(let isOn): self = .share(isOn)
    case .restore:
      guard person.restores.count < WorldIdentifiers.restores else {
        throw ManualActionError(.full, "restored too often")
      }
      self = .restore
    case .finish(let id):
      let place = try charge(id)
      guard !person.charges[place].isFinished else { throw ManualActionError(.notNow, "it is finished") }
      self = .finish(place)
    case .setAccountToken(let token, let id):
      guard let place = person.charges.firstIndex(where: { String($0.originalID) == id }) else {
        throw ManualActionError(.unknownTransaction, "no original transaction \(id)")
      }
      self = .setAccountToken(token, place)
    }
  }

  private static func purchase(
    _ productID: String, _ offerID: String?, _ quantity: Int, _ person: Household.Member, _ household: Household,
    _ market: AppMarket, at date: Timestamp
  ) throws(ManualActionError) -> Self {
    guard let product = market.product(productID) else {
      throw ManualActionError(.unknownProduct, "no product \(productID)")
    }
    guard !household.isFull else { throw ManualActionError(.full, "the household has used up its ids") }
    let sold = market.plan.products[product]
    var offer = -1
    if let offerID {
      guard
        let known = sold.offers.firstIndex(where: {
          $0.identifier == offerID || ($0.kind == .introductory && offerID == "introductory")
        })
      else { throw ManualActionError(.unknownOffer, "no offer \(offerID) of \(productID)") }
      offer = known
    }
    guard sold.period != nil else {
      guard (1...10).contains(quantity) else { throw ManualActionError(.notNow, "1 to 10 of one product") }
      return .buyOnce(product, quantity: quantity)
    }
    let group = market.group(of: product)
    guard
      let place = person.subscriptions.indices.last(where: { place in
        group.contains(Int(person.charges[Int(person.subscriptions[place].intention.charge)].product))
          && person.subscriptions[place].sharer == nil
      })
    else {
      guard offer < 0 || sold.offers[offer].kind != .winBack else {
        throw ManualActionError(.notNow, "no customer to win back")
      }
      return .subscribe(product, offer: offer)
    }
    let intention = person.subscriptions[place].intention
    let current = Int(person.charges[Int(intention.charge)].product)
    let isLapsed = intention.phase == .lapsed || intention.phase == .revoked
    if offer >= 0, sold.offers[offer].kind == .introductory || (sold.offers[offer].kind == .winBack && !isLapsed) {
      throw ManualActionError(.notNow, "the offer is not for customers who subscribed already")
    }
    let isInGrace = intention.gracePeriodExpiresDate.map { date < $0 } ?? false
    switch intention.phase {
    case .lapsed, .revoked: return .resubscribe(place, to: product, offer: offer)
    case .retry where !isInGrace:
      return product == current && intention.willRenew && offer < 0
        ? .recover(place) : .resubscribe(place, to: product, offer: offer)
    case .active, .retry: break
    }
    guard product != current else {
      if offer >= 0 { return .redeem(place, offer: offer) }
      guard Int(intention.nextProduct) != current else {
        throw ManualActionError(.notNow, "subscribed to \(productID) already")
      }
      return .keep(place)
    }
    switch market.change(from: current, to: product) {
    case .upgrade: return .upgrade(place, to: product, offer: offer)
    case .downgrade, .crossgrade: return .downgrade(place, to: product, offer: offer)
    }
  }
}
