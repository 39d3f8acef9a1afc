import Signing
import Time

extension Household {
  func customer(_ member: Int, in market: AppMarket) -> Customer {
    let person = members[member]
    let number = Int(self.number) * 8 + member
    var tokens = SplitMix64(seed: market.seed ^ 0x746F_6B65_6E, part: number)
    return Customer(
      name: "Customer \(number)", storefront: person.storefront,
      appTransactionID: market.ids(environment).appTransactionID(of: Int(self.number), member),
      appAccountToken: person.hasAccountToken ? tokens.uuid() : nil)
  }

  /// Returns a member's state after the event `sequence`, seen on a date.
  func state(of member: Int, asOf sequence: Int32, at date: Timestamp, in market: AppMarket) -> CustomerState {
    let person = members[member]
    let app = market.app(in: environment)
    let customer = customer(member, in: market)
    var purchases: [WorldPurchase] = []
    purchases.reserveCapacity(person.charges.count)
    for place in person.charges.indices {
      guard let charge = person.charge(place, asOf: sequence) else { continue }
      purchases.append(purchase(charge, of: member, asOf: sequence, customer, app, market))
    }
    var subscriptions: [WorldSubscription] = []
    for place in person.subscriptions.indices {
      if let subscription = subscription(place, of: member, asOf: sequence, at: date, customer, app, market) {
        subscriptions.append(subscription)
      }
    }
    var download = SimulatedAppTransaction(app: app, customer: customer, downloadedAt: person.downloadedAt)
    download.preorderDate = person.preorderedAt
    return CustomerState(
      id: CustomerID(household: Int(number), member: member), app: app, era: market.plan.era, customer: customer,
      usesStoreKit1: person.usesStoreKit1, licence: person.licence, appTransaction: download,
      date: date, purchases: purchases, subscriptions: subscriptions)
  }

  /// Returns one purchase of a member after the event `sequence`; `nil` before it was made.
  func transaction(_ place: Int, of member: Int, asOf sequence: Int32, in market: AppMarket) -> SimulatedTransaction? {
    guard let charge = members[member].charge(place, asOf: sequence) else { return nil }
    return transaction(charge, of: member, customer(member, in: market), market.app(in: environment), market)
  }

  /// Returns one subscription of a member after the event `sequence`; `nil` before it began.
  func subscription(_ place: Int, of member: Int, asOf sequence: Int32, at date: Timestamp, in market: AppMarket)
    -> WorldSubscription?
  {
    subscription(
      place, of: member, asOf: sequence, at: date, customer(member, in: market), market.app(in: environment), market)
  }

  private func transaction(
    _ charge: Charge, of member: Int, _ customer: Customer, _ app: SimulatedApp, _ market: AppMarket
  ) -> SimulatedTransaction {
    var customer = customer
    if let token = members[member].accountTokens[charge.originalID] { customer.appAccountToken = token }
    return SimulatedTransaction(charge, of: market.plan.products[Int(charge.product)], by: customer, in: app)
  }

  private func purchase(
    _ charge: Charge, of member: Int, asOf sequence: Int32, _ customer: Customer, _ app: SimulatedApp,
    _ market: AppMarket
  ) -> WorldPurchase {
    let ids = market.ids(environment)
    let restores = members[member].restores.enumerated().filter {
      $0.element.sequence <= sequence && $0.element.sequence > charge.origin
    }
    let restored = restores.map { String(ids.restored(charge.id, $0.offset + 1)) }
    return WorldPurchase(
      transaction: transaction(charge, of: member, customer, app, market), orderID: ids.orderID(of: charge.id),
      isFinished: charge.isFinished, madeAt: charge.madeAt, modifiedAt: charge.modifiedAt,
      legacyTransactionID: restored.last ?? String(charge.id),
      legacyOriginalPurchaseDate: restores.last?.element.date ?? charge.originalPurchaseDate,
      restoredTransactionIDs: restored)
  }

  private func subscription(
    _ place: Int, of member: Int, asOf sequence: Int32, at date: Timestamp, _ customer: Customer,
    _ app: SimulatedApp, _ market: AppMarket
  ) -> WorldSubscription? {
    guard let intention = members[member].subscriptions[place].intention(asOf: sequence),
      let charge = members[member].charge(Int(intention.charge), asOf: sequence)
    else { return nil }
    let transaction = transaction(charge, of: member, customer, app, market)
    return WorldSubscription(
      status: Self.status(of: charge, intention, at: date), transaction: transaction,
      renewal: SimulatedRenewal(
        intention, after: transaction, next: market.plan.products[Int(intention.nextProduct)]),
      isConsentAsked: intention.isConsentAsked)
  }

  private static func status(of charge: Charge, _ intention: RenewalIntent, at date: Timestamp) -> Int64 {
    if charge.revocation != nil { return 5 }
    if let end = charge.expiresDate, date < end { return 1 }
    if let grace = intention.gracePeriodExpiresDate, date < grace { return 4 }
    return intention.isInBillingRetryPeriod == true ? 3 : 2
  }
}
