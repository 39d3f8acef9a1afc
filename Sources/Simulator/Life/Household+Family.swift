import Time

/// Family Sharing: every member's access is a separate purchase with its own IDs.
extension Household {
  /// Gives the others a new purchase or period of it.
  ///
  /// A revoked share stays revoked until sharing begins again.
  mutating func share(
    _ subscription: Int, of member: Int, _ kind: WorldEvent.Kind, at date: Timestamp, in market: AppMarket
  ) {
    let source = members[member].charges[Int(members[member].subscriptions[subscription].intention.charge)]
    guard market.plan.products[Int(source.product)].isFamilyShareable else {
      return leave(subscription, of: member, isAtOnce: kind == .upgraded, at: date)
    }
    let sharer = Subscription.Sharer(member: member, subscription: subscription)
    for other in members.indices where other != member && members[other].hasJoined {
      if let known = members[other].subscriptions.firstIndex(where: { $0.sharer == sharer }) {
        prolong(known, of: other, with: source, kind, at: date, in: market)
      } else if isSharing, !hasGroup(of: Int(source.product), other, in: market) {
        grant(source, to: other, continuing: nil, at: date, in: market) { household, place in
          let first = household.members[other].charges[place]
          household.members[other].subscriptions.append(
            Subscription(
              originalID: first.id, sharer: sharer,
              intentions: [
                RenewalIntent(
                  charge: Int32(place), nextProduct: source.product, price: 0,
                  recentSubscriptionStartDate: source.purchaseDate, renewalDate: first.expiresDate,
                  sequence: household.sequence)
              ]))
          household.tell(
            .subscribed, of: other, charge: place, subscription: household.members[other].subscriptions.count - 1,
            at: date)
        }
      }
    }
  }

  /// Ends sharing after a change to an unshared product: the others keep it until their period ends.
  private mutating func leave(_ subscription: Int, of member: Int, isAtOnce: Bool, at date: Timestamp) {
    let sharer = Subscription.Sharer(member: member, subscription: subscription)
    for other in members.indices where other != member {
      for known in members[other].subscriptions.indices where members[other].subscriptions[known].sharer == sharer {
        let intention = members[other].subscriptions[known].intention
        guard intention.phase == .active || intention.phase == .retry else { continue }
        if isAtOnce {
          revoke(Int(intention.charge), of: other, at: date)
        } else {
          let end = members[other].charges[Int(intention.charge)].expiresDate ?? date
          planFor(known, of: other, .endPeriod, at: max(date, end))
        }
      }
    }
  }

  private mutating func prolong(
    _ subscription: Int, of member: Int, with source: Charge, _ kind: WorldEvent.Kind, at date: Timestamp,
    in market: AppMarket
  ) {
    let old = members[member].subscriptions[subscription].intention
    guard old.phase != .revoked || isSharing, !isFull else { return }
    let kind = old.phase == .lapsed || old.phase == .revoked ? .resubscribed : kind
    let current = members[member].charges[Int(old.charge)]
    // The same period is not shared twice.
    guard current.purchaseDate < source.purchaseDate || current.revocation != nil else { return }
    members[member].subscriptions[subscription].generation += 1
    grant(source, to: member, continuing: current, at: date, in: market) { household, place in
      if kind == .upgraded {
        household.change(Int(old.charge), of: member, at: date) { $0.isUpgraded = true }
      }
      household.intend(subscription, of: member) { intention in
        intention = RenewalIntent(
          charge: Int32(place), nextProduct: source.product, price: 0,
          recentSubscriptionStartDate: kind == .resubscribed ? source.purchaseDate : old.recentSubscriptionStartDate,
          renewalDate: source.expiresDate, sequence: 0)
      }
      household.tell(kind, of: member, charge: place, subscription: subscription, at: date)
    }
  }

  /// Records a shared purchase for a member, in a separate event that the caller must end.
  mutating func grant(
    _ source: Charge, to member: Int, continuing original: Charge?, at date: Timestamp, in market: AppMarket,
    tell: (inout Self, Int) -> Void
  ) {
    begin()
    let id = nextID(market)
    let place = members[member].charges.count
    members[member].charges.append(
      Charge(
        id: id, originalID: original?.originalID ?? id,
        webOrderLineItemID: source.webOrderLineItemID == 0 ? 0 : nextID(market), product: source.product, offer: -1,
        isShared: true, isRenewal: source.isRenewal && original != nil, quantity: 1, madeAt: date,
        purchaseDate: source.purchaseDate,
        originalPurchaseDate: original?.originalPurchaseDate ?? source.purchaseDate, price: 0, origin: sequence,
        expiresDate: source.expiresDate, commitment: nil, modifiedAt: date, sequence: sequence))
    tell(&self, place)
  }

  mutating func mirror(_ kind: WorldEvent.Kind, _ subscription: Int, of member: Int, at date: Timestamp) {
    let source = members[member].subscriptions[subscription].intention
    let sharer = Subscription.Sharer(member: member, subscription: subscription)
    for other in members.indices where other != member {
      for known in members[other].subscriptions.indices where members[other].subscriptions[known].sharer == sharer {
        let old = members[other].subscriptions[known].intention
        guard old.phase == .active || old.phase == .retry else { continue }
        begin()
        intend(known, of: other) {
          $0.phase = source.phase
          $0.willRenew = source.willRenew
          $0.expirationIntent = source.expirationIntent
          $0.isInBillingRetryPeriod = source.isInBillingRetryPeriod
          $0.gracePeriodExpiresDate = source.gracePeriodExpiresDate
        }
        tell(kind, of: other, charge: Int(old.charge), subscription: known, at: date)
      }
    }
  }

  /// Ends all sharing by the purchaser, or of one refunded purchase.
  mutating func endSharing(of charge: Charge? = nil, by member: Int, at date: Timestamp) {
    for other in members.indices where other != member {
      for place in members[other].charges.indices {
        let shared = members[other].charges[place]
        guard shared.isShared, shared.revocation == nil, !shared.isUpgraded,
          charge.map({ $0.product == shared.product && $0.purchaseDate == shared.purchaseDate }) ?? true,
          isOpen(shared, at: date), isFrom(member, shared)
        else { continue }
        revoke(place, of: other, at: date)
      }
    }
  }

  private mutating func revoke(_ place: Int, of member: Int, at date: Timestamp) {
    let subscription = subscription(ofCharge: place, of: member)
    begin()
    change(place, of: member, at: date) { $0.revocation = Revocation(at: date, .familyRevoke) }
    if let subscription, members[member].subscriptions[subscription].intention.charge == Int32(place) {
      intend(subscription, of: member) {
        $0.willRenew = false
        $0.phase = .revoked
      }
    }
    tell(.sharingEnded, of: member, charge: place, subscription: subscription, at: date)
  }

  /// Gives a non-consumable to members that do not have it.
  mutating func shareOnce(_ place: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    let source = members[member].charges[place]
    let product = market.plan.products[Int(source.product)]
    guard product.isFamilyShareable, product.period == nil, !source.isShared, source.revocation == nil else { return }
    for other in members.indices where other != member && members[other].hasJoined {
      let hasIt = members[other].charges.contains { $0.product == source.product && $0.revocation == nil }
      guard !hasIt else { continue }
      grant(source, to: other, continuing: nil, at: date, in: market) { household, place in
        household.tell(.bought, of: other, charge: place, at: date)
      }
    }
  }

  mutating func beginSharing(by member: Int, at date: Timestamp, in market: AppMarket) {
    isSharing = true
    for place in members[member].charges.indices { shareOnce(place, of: member, at: date, in: market) }
    for subscription in members[member].subscriptions.indices
    where members[member].subscriptions[subscription].sharer == nil
      && members[member].subscriptions[subscription].intention.phase == .active
    {
      share(subscription, of: member, .subscribed, at: date, in: market)
    }
  }

  private func isOpen(_ charge: Charge, at date: Timestamp) -> Bool { charge.expiresDate.map { date < $0 } ?? true }

  private func isFrom(_ member: Int, _ shared: Charge) -> Bool {
    members[member].charges.contains {
      !$0.isShared && $0.product == shared.product && $0.purchaseDate == shared.purchaseDate
    }
  }

  private func hasGroup(of product: Int, _ member: Int, in market: AppMarket) -> Bool {
    let group = market.plan.products[product].subscriptionGroupID
    return members[member].subscriptions.contains {
      market.plan.products[Int(members[member].charges[Int($0.intention.charge)].product)].subscriptionGroupID == group
    }
  }
}
