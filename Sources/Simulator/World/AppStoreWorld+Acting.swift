import Time

extension AppStoreWorld {
  /// Performs an act on a customer now.
  ///
  /// - Returns: the IDs of the transactions that the customer has since.
  @discardableResult
  package mutating func act(_ act: ManualAction, on customer: CustomerID) throws(ManualActionError) -> [String] {
    guard contains(customer) else { throw ManualActionError(.unknownCustomer, "no customer \(customer)") }
    let market = markets[Int(households[customer.household].app)]
    let order = try ResolvedAction(act, customer.member, households[customer.household], market, self)
    let before = households[customer.household].members[customer.member].charges.count
    // Purchases are dated in whole seconds, as receipts have them.
    let date = Timestamp(now.wholeSeconds * 1_000)
    live(customer.household) { household, market in
      household.members[customer.member].hasJoined = true
      household.carryOut(order, for: customer.member, at: date, in: market)
    }
    return households[customer.household].members[customer.member].charges[before...].map { String($0.id) }
  }
}
