import Time

extension Order {
  init(
    _ act: Act, _ member: Int, _ household: Household, _ market: AppMarket, _ world: AppStoreWorld
  ) throws(ActRefusal) {
    let person = household.members[member]
    let ids = market.ids(household.environment)

    func subscription(_ id: String?, ofTheirs: Bool = true) throws(ActRefusal) -> Int {
      let found = person.subscriptions.indices.filter { id == nil || String(person.subscriptions[$0].originalID) == id }
      guard let first = found.first else { throw ActRefusal(.unknownSubscription, "no subscription \(id ?? "at all")") }
      guard found.count == 1 else {
        throw ActRefusal(.ambiguousSubscription, "\(found.count) subscriptions: say which")
      }
      if ofTheirs, person.subscriptions[first].sharer != nil {
        throw ActRefusal(.notTheirs, "the subscription is shared with them")
      }
      return first
    }

    func charge(_ id: String) throws(ActRefusal) -> Int {
      guard let place = world.place(ofTransaction: id, household, member, ids) else {
        throw ActRefusal(.unknownTransaction, "no transaction \(id)")
      }
      return place
    }

    func current(_ place: Int) -> Intention { person.subscriptions[place].intention }

    switch act {
    case .buy(let product, let offer, let quantity):
      self = try Self.purchase(product, offer, quantity, person, household, market, at: world.now)
    case .setAutoRenew(let isOn, let id):
      let place = try subscription(id)
      let phase = current(place).phase
      guard phase == .active || phase == .retry, current(place).willRenew != isOn else {
        throw ActRefusal(.notNow, "auto-renew is so already, or nothing renews")
      }
      self = .setAutoRenew(isOn, place)
    case .setPayment(let works): self = .setPayment(works: works)
    case .announcePrice(let price, let needsConsent, let id):
      let place = try subscription(id)
      guard current(place).phase == .active, current(place).willRenew, price >= 0 else {
        throw ActRefusal(.notNow, "nothing will renew at the price")
      }
      self = .announce(price, needsConsent: needsConsent, place)
    case .agreeToPrice(let id):
      let place = try subscription(id)
      guard current(place).phase == .active, current(place).priceIncreaseStatus == 0 else {
        throw ActRefusal(.notNow, "no price waits for consent")
      }
      self = .agree(place)
    case .requestRefund(let id, let reason):
      let place = try charge(id)
      guard person.charges[place].revocation == nil else { throw ActRefusal(.notNow, "it was taken back already") }
      self = .requestRefund(place, reason: reason)
    case .refund(let id, let percentage, let isForAnIssue):
      let place = try charge(id)
      guard !person.charges[place].isShared else { throw ActRefusal(.notTheirs, "it is shared with them") }
      guard person.charges[place].revocation == nil, (1...100_000).contains(percentage ?? 1) else {
        throw ActRefusal(.notNow, "it was taken back already, or the percentage is not 1 to 100,000")
      }
      self = .refund(place, percentage: percentage, isForAnIssue: isForAnIssue)
    case .declineRefund(let id): self = .declineRefund(try charge(id))
    case .reverseRefund(let id):
      let place = try charge(id)
      guard let kind = person.charges[place].revocation?.kind, kind != .familyRevoke else {
        throw ActRefusal(.notNow, "it is not refunded")
      }
      self = .reverseRefund(place)
    case .refuseRenewal(let isForSale, let id):
      let place = try subscription(id)
      guard current(place).phase == .active else { throw ActRefusal(.notNow, "nothing will renew") }
      self = .refuseRenewal(place, isForSale: isForSale)
    case .extend(let days, let id):
      let place = try subscription(id)
      let end = person.charges[Int(current(place).charge)].expiresDate
      guard (1...90).contains(days), current(place).phase == .active, end.map({ world.now < $0 }) ?? false else {
        throw ActRefusal(.notNow, "1 to 90 days, of a subscription that is active")
      }
      self = .extend(place, days: days)
    case .share(let isOn): self = .share(isOn)
    case .restore:
      guard person.restores.count < WorldIdentifiers.restores else { throw ActRefusal(.full, "restored too often") }
      self = .restore
    case .finish(let id):
      let place = try charge(id)
      guard !person.charges[place].isFinished else { throw ActRefusal(.notNow, "it is finished") }
      self = .finish(place)
    case .setAccountToken(let token, let id):
      guard let place = person.charges.firstIndex(where: { String($0.originalID) == id }) else {
        throw ActRefusal(.unknownTransaction, "no original transaction \(id)")
      }
      self = .setAccountToken(token, place)
    }
  }

  private static func purchase(
    _ productID: String, _ offerID: String?, _ quantity: Int, _ person: Household.Member, _ household: Household,
    _ market: AppMarket, at date: Milliseconds
  ) throws(ActRefusal) -> Self {
    guard let product = market.product(productID) else { throw ActRefusal(.unknownProduct, "no product \(productID)") }
    guard !household.isFull else { throw ActRefusal(.full, "the household has used up its ids") }
    let sold = market.plan.products[product]
    var offer = -1
    if let offerID {
      guard
        let known = sold.offers.firstIndex(where: {
          $0.identifier == offerID || ($0.kind == .introductory && offerID == "introductory")
        })
      else { throw ActRefusal(.unknownOffer, "no offer \(offerID) of \(productID)") }
      offer = known
    }
    guard sold.period != nil else {
      guard (1...10).contains(quantity) else { throw ActRefusal(.notNow, "1 to 10 of one product") }
      return .buyOnce(product, quantity: quantity)
    }
    let group = market.group(of: product)
    guard
      let place = person.subscriptions.indices.last(where: { place in
        group.contains(Int(person.charges[Int(person.subscriptions[place].intention.charge)].product))
          && person.subscriptions[place].sharer == nil
      })
    else {
      guard offer < 0 || sold.offers[offer].kind != .winBack else { throw ActRefusal(.notNow, "nobody to win back") }
      return .subscribe(product, offer: offer)
    }
    let intention = person.subscriptions[place].intention
    let current = Int(person.charges[Int(intention.charge)].product)
    let isLapsed = intention.phase == .lapsed || intention.phase == .revoked
    if offer >= 0, sold.offers[offer].kind == .introductory || (sold.offers[offer].kind == .winBack && !isLapsed) {
      throw ActRefusal(.notNow, "the offer is not for who subscribed already")
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
        throw ActRefusal(.notNow, "subscribed to \(productID) already")
      }
      return .keep(place)
    }
    switch market.change(from: current, to: product) {
    case .upgrade: return .upgrade(place, to: product, offer: offer)
    case .downgrade, .crossgrade: return .downgrade(place, to: product, offer: offer)
    }
  }
}
