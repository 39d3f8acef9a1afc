import Time

extension Household {
  mutating func carryOut(_ order: ResolvedAction, for member: Int, at date: Timestamp, in market: AppMarket) {
    switch order {
    case .subscribe(let product, let offer):
      subscribe(to: product, offer: offer, of: member, at: date, in: market)
    case .resubscribe(let place, let product, let offer):
      resubscribe(place, to: product, offer: offer, of: member, at: date, in: market)
    case .recover(let place): recover(place, of: member, at: date, in: market)
    case .upgrade(let place, let product, let offer):
      upgrade(place, to: product, offer: offer, of: member, at: date, in: market)
    case .downgrade(let place, let product, let offer):
      downgrade(place, to: product, offer: offer, of: member, at: date, in: market)
    case .keep(let place): keepProduct(place, of: member, at: date, in: market)
    case .redeem(let place, let offer): redeem(offer, place, of: member, at: date, in: market)
    case .buyOnce(let product, let quantity):
      _ = buyOnce(product, quantity: quantity, of: member, at: date, in: market)
    case .setAutoRenew(let isOn, let place): setAutoRenew(isOn, place, of: member, at: date, in: market)
    case .setPayment(let works): setPayment(works: works, of: member, at: date, in: market)
    case .announce(let price, let needsConsent, let place):
      announce(price, needsConsent: needsConsent, place, of: member, at: date, in: market)
    case .agree(let place): agreeToPrice(place, of: member, at: date)
    case .requestRefund(let place, let reason): requestRefund(place, reason: reason, of: member, at: date)
    case .refund(let place, let percentage, let isForAnIssue):
      refund(place, percentage: percentage, isForAnIssue: isForAnIssue, of: member, at: date)
    case .declineRefund(let place): declineRefund(place, of: member, at: date)
    case .reverseRefund(let place): reverseRefund(place, of: member, at: date)
    case .refuseRenewal(let place, let isForSale):
      refuseRenewal(place, because: isForSale ? .other : .productNotAvailable, of: member)
    case .extend(let place, let days): extend(place, by: .days(Int64(days)), of: member, at: date)
    case .share(true): beginSharing(by: member, at: date, in: market)
    case .share(false):
      isSharing = false
      endSharing(by: member, at: date)
    case .restore: restore(member, at: date)
    case .finish(let place): finish(place, of: member, at: date)
    case .setAccountToken(let token, let place): setAccountToken(token, place, of: member, at: date)
    }
  }

  private mutating func setPayment(works: Bool, of member: Int, at date: Timestamp, in market: AppMarket) {
    members[member].hasWorkingPayment = works
    guard works else { return }
    for place in members[member].subscriptions.indices {
      members[member].subscriptions[place].isFailing = false
      if members[member].subscriptions[place].sharer == nil { recover(place, of: member, at: date, in: market) }
    }
  }

  private mutating func setAccountToken(_ token: String, _ place: Int, of member: Int, at date: Timestamp) {
    let original = members[member].charges[place].originalID
    members[member].accountTokens[original] = token
    begin()
    for known in members[member].charges.indices where members[member].charges[known].originalID == original {
      change(known, of: member, at: date) { _ in }
    }
    tell(.accountTokenSet, of: member, charge: place, at: date)
  }
}
