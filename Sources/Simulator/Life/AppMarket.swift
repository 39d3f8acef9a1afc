import Signing
import Time

/// The products, prices and behavior rates of one app for its households.
///
/// A shared object, because millions of notifications refer to it.
final class AppMarket: Sendable {
  let index: Int
  let plan: AppPlan
  let seed: UInt64
  /// The plan's indexes of products that customers can buy first.
  let subscriptions: [Int]
  let oneTimePurchases: [Int]
  private let places: [String: Int]
  private let production: WorldIdentifiers
  private let sandbox: WorldIdentifiers

  init(_ plan: AppPlan, index: Int, seed: UInt64) {
    self.plan = plan
    self.index = index
    self.seed = seed
    let products = plan.products
    subscriptions = products.indices.filter { products[$0].period != nil }
    oneTimePurchases = products.indices.filter { products[$0].period == nil }
    places = Dictionary(products.indices.map { (products[$0].id, $0) }) { first, _ in first }
    production = WorldIdentifiers(environment: .production, seed: seed)
    sandbox = WorldIdentifiers(
      environment: plan.app.environment == .production ? .sandbox : plan.app.environment, seed: seed)
  }

  func ids(_ environment: AppStoreEnvironment) -> WorldIdentifiers {
    environment == .production ? production : sandbox
  }

  func app(in environment: AppStoreEnvironment) -> SimulatedApp {
    var app = plan.app
    app.environment = environment
    return app
  }

  func product(_ id: String) -> Int? { places[id] }

  /// Returns the price for new customers, in thousandths of a dollar.
  func price(of product: Int, at date: Timestamp) -> Int64 {
    let id = plan.products[product].id
    let change = plan.priceChanges.filter { $0.productID == id && $0.date <= date }.max { $0.date < $1.date }
    return change?.price ?? plan.products[product].price
  }

  /// Returns how long access continues after an unpaid period; `nil` without grace.
  func grace(after charge: Charge) -> Interval? {
    let product = plan.products[Int(charge.product)]
    let wasFree = charge.offer >= 0 && product.offers[Int(charge.offer)].discount == .freeTrial
    guard plan.hasGrace, !(wasFree && plan.isGraceForPaidPeriodsAlone) else { return nil }
    return product.period?.grace
  }

  func group(of product: Int) -> [Int] {
    subscriptions.filter { plan.products[$0].subscriptionGroupID == plan.products[product].subscriptionGroupID }
  }

  func change(from old: Int, to new: Int) -> ProductChange {
    let (old, new) = (plan.products[old], plan.products[new])
    if new.level < old.level { return .upgrade }
    if new.level > old.level { return .downgrade }
    // Within a level, Apple reports the same duration as an upgrade with immediate effect.
    return new.period == old.period ? .upgrade : .crossgrade
  }
}

/// The kind of a product change.
///
/// Apple: a change to a higher level is immediate; to a lower level or another duration, it comes with the next period.
enum ProductChange: Hashable, Sendable {
  case upgrade, downgrade, crossgrade
}
