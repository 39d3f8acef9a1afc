import Time

extension Household {
  /// Requests a refund; Apple asks the app for consumption information.
  mutating func requestRefund(_ place: Int, reason: String, of member: Int, at date: Timestamp) {
    begin()
    tell(
      .refundRequested, of: member, charge: place, subscription: subscription(ofCharge: place, of: member), at: date,
      reason: reason)
  }

  /// - Parameter percentage: in thousandths of a percent; nil: everything.
  mutating func refund(
    _ place: Int, percentage: Int64?, isForAnIssue: Bool, of member: Int, at date: Timestamp
  ) {
    guard members[member].charges[place].revocation == nil else { return }
    let subscription = subscription(ofCharge: place, of: member)
    begin()
    change(place, of: member, at: date) {
      $0.revocation = Revocation(
        at: date, percentage == nil ? .refundFull : .refundProrated, reason: isForAnIssue ? 1 : 0,
        percentage: percentage ?? 100_000)
    }
    var wasRenewing = false
    if let subscription {
      let intention = members[member].subscriptions[subscription].intention
      if intention.charge == Int32(place), intention.phase == .active || intention.phase == .retry {
        wasRenewing = intention.willRenew
        intend(subscription, of: member) {
          $0.willRenew = false
          $0.phase = .revoked
        }
        members[member].subscriptions[subscription].generation += 1
      }
    }
    tell(.refunded, of: member, charge: place, subscription: subscription, at: date)
    if wasRenewing { tell(.autoRenewTurnedOff, of: member, charge: place, subscription: subscription, at: date) }
    endSharing(of: members[member].charges[place], by: member, at: date)
  }

  mutating func declineRefund(_ place: Int, of member: Int, at date: Timestamp) {
    begin()
    tell(
      .refundDeclined, of: member, charge: place, subscription: subscription(ofCharge: place, of: member), at: date)
  }

  /// Restores the rest of the access without a trace of the revocation.
  ///
  /// The family's access stays revoked, because Apple does not document that it returns.
  mutating func reverseRefund(_ place: Int, of member: Int, at date: Timestamp) {
    guard let kind = members[member].charges[place].revocation?.kind, kind != .familyRevoke else { return }
    let subscription = subscription(ofCharge: place, of: member)
    begin()
    change(place, of: member, at: date) { $0.revocation = nil }
    if let subscription {
      let intention = members[member].subscriptions[subscription].intention
      if intention.charge == Int32(place), intention.phase == .revoked,
        let end = members[member].charges[place].expiresDate
      {
        intend(subscription, of: member) {
          $0.phase = date < end ? .active : .lapsed
          if date >= end { $0.expirationIntent = .cancelled }
          if date >= end { $0.isInBillingRetryPeriod = false }
        }
        members[member].subscriptions[subscription].generation += 1
        if date < end { planFor(subscription, of: member, .endPeriod, at: end) }
      }
    }
    tell(.refundReversed, of: member, charge: place, subscription: subscription, at: date)
  }

  mutating func decideRefund(_ place: Int, of member: Int, at date: Timestamp, in market: AppMarket) {
    guard members[member].charges[place].revocation == nil else { return }
    let habits = market.plan.habits
    guard isLikely(habits.isRefunded) else { return declineRefund(place, of: member, at: date) }
    let charge = members[member].charges[place]
    var percentage: Int64?
    if let end = charge.expiresDate, charge.purchaseDate < date, date < end, isLikely(habits.isRefundedInPart) {
      let (left, all) = ((end - date).milliseconds, (end - charge.purchaseDate).milliseconds)
      percentage = max(1, left / 1_000 * 100_000 / max(1, all / 1_000))
    }
    refund(place, percentage: percentage, isForAnIssue: isLikely(300), of: member, at: date)
    if isLikely(habits.refundIsReversed) {
      plan(.reverseRefund, at: moment(between: date + .hours(1), and: date + .days(20)), of: member, index: place)
    }
  }

  func subscription(ofCharge place: Int, of member: Int) -> Int? {
    let original = members[member].charges[place].originalID
    return members[member].subscriptions.firstIndex { $0.originalID == original }
  }
}
