package import Signing
package import Time

extension AppStoreWorld {
  package func contains(_ customer: CustomerID) -> Bool {
    households.indices.contains(customer.household)
      && households[customer.household].members.indices.contains(customer.member)
  }

  /// Returns the customers in the order of their IDs, optionally of one app.
  package func customers(of bundleID: String? = nil) -> some Sequence<CustomerID> {
    let app = bundleID.flatMap { id in apps.firstIndex { $0.app.bundleID == id } }
    let households = households
    return households.indices.lazy
      .filter { bundleID == nil || households[$0].app == app.map(Int32.init) }
      .flatMap { household in
        households[household].members.indices.lazy.map { CustomerID(household: household, member: $0) }
      }
  }

  package var customerCount: Int { households.reduce(0) { $0 + $1.members.count } }

  /// Finds the customer of a transaction ID, an ID that a restore created, or an app transaction ID.
  package func customer(
    ofAnyTransactionID id: String, app bundleID: String, environment: AppStoreEnvironment
  ) -> CustomerID? {
    guard let app = apps.firstIndex(where: { $0.app.bundleID == bundleID }) else { return nil }
    let ids = markets[app].ids(environment)
    guard let number = ids.household(of: id), households.indices.contains(number),
      households[number].app == Int32(app), households[number].environment == environment
    else { return nil }
    let household = households[number]
    for member in household.members.indices {
      if ids.appTransactionID(of: number, member) == id || place(ofTransaction: id, household, member, ids) != nil {
        return CustomerID(household: number, member: member)
      }
    }
    return nil
  }

  /// Finds the index of a purchase among a member's, by its ID or one that a restore created.
  func place(ofTransaction id: String, _ household: Household, _ member: Int, _ ids: WorldIdentifiers) -> Int? {
    guard let number = Int64(id), let original = ids.original(of: id) else { return nil }
    let person = household.members[member]
    guard let place = person.charges.firstIndex(where: { $0.id == original }) else { return nil }
    if number == original { return place }
    let isRestored = person.restores.indices.contains {
      person.restores[$0].sequence > person.charges[place].origin && ids.restored(original, $0 + 1) == number
    }
    return isRestored ? place : nil
  }

  /// Returns a customer's state, now or at an earlier time.
  ///
  /// - Precondition: the world contains the customer.
  package func state(of customer: CustomerID, at date: Timestamp? = nil) -> CustomerState {
    let household = households[customer.household]
    let sequence = date.map { household.sequence(at: $0) } ?? household.sequence
    return household.state(
      of: customer.member, asOf: sequence, at: date ?? now, in: markets[Int(household.app)])
  }

  package func transactions(of customer: CustomerID) -> [WorldPurchase] { state(of: customer).purchases }

  package func subscriptions(of customer: CustomerID) -> [WorldSubscription] { state(of: customer).subscriptions }

  package func appTransaction(of customer: CustomerID) -> SimulatedAppTransaction {
    state(of: customer).appTransaction
  }

  /// Returns the refunded purchases without reversed ones, earliest refund first.
  package func refunds(of customer: CustomerID) -> [WorldPurchase] {
    transactions(of: customer)
      .filter { $0.transaction.revocation.map { $0.kind != .familyRevoke } ?? false }
      .sorted { ($0.modifiedAt, $0.madeAt) < ($1.modifiedAt, $1.madeAt) }
  }

  /// Finds the purchase of an order number and its customer; `nil` if unknown.
  package func order(_ id: String, app bundleID: String, environment: AppStoreEnvironment) -> (
    customer: CustomerID, purchase: WorldPurchase
  )? {
    guard let app = apps.firstIndex(where: { $0.app.bundleID == bundleID }),
      let transaction = markets[app].ids(environment).transaction(ofOrder: id),
      let customer = customer(ofAnyTransactionID: String(transaction), app: bundleID, environment: environment),
      let purchase = transactions(of: customer).first(where: { $0.orderID == id })
    else { return nil }
    return (customer, purchase)
  }

  /// Returns the events of a customer, oldest first.
  package func log(of customer: CustomerID) -> [WorldEvent] {
    households[customer.household].log.filter { $0.member == customer.member }
  }

  /// Returns the transaction of an event; `nil` without one.
  package func transactionID(of happening: WorldEvent, in customer: CustomerID) -> String? {
    guard happening.charge >= 0 else { return nil }
    return String(households[customer.household].members[happening.member].charges[Int(happening.charge)].id)
  }

  /// Recreates the notification of an event, because a stored one would retain a copy of its household.
  func notification(of happening: WorldEvent, to customer: CustomerID) -> WorldNotification {
    let household = households[customer.household]
    return WorldNotification(happening, of: household, in: markets[Int(household.app)])
  }
}
