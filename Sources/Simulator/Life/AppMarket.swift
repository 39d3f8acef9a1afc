import Signing
import Time

/// What households of one app live by: what is sold, for how much, and what is likely.
///
/// One object for all who refer to it: notifications keep it by the million.
final class AppMarket: Sendable {
  /// Among the world's apps.
  let index: Int
  let plan: AppPlan
  let seed: UInt64
  /// The places of products in the plan that may be bought first.
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

  /// The app as it is for customers of an environment.
  func app(in environment: AppStoreEnvironment) -> SimulatedApp {
    var app = plan.app
    app.environment = environment
    return app
  }

  func product(_ id: String) -> Int? { places[id] }

  /// The price for new customers, in thousandths of a dollar.
  func price(of product: Int, at date: Timestamp) -> Int64 {
    let id = plan.products[product].id
    let change = plan.priceChanges.filter { $0.productID == id && $0.date <= date }.max { $0.date < $1.date }
    return change?.price ?? plan.products[product].price
  }

  /// How long access goes on after a period that could not be paid for; nil: not at all.
  func grace(after charge: Charge) -> Interval? {
    let product = plan.products[Int(charge.product)]
    let wasFree = charge.offer >= 0 && product.offers[Int(charge.offer)].discount == .freeTrial
    guard plan.hasGrace, !(wasFree && plan.isGraceForPaidPeriodsAlone) else { return nil }
    return product.period?.grace
  }

  /// Products of the same group, in the order of the plan.
  func group(of product: Int) -> [Int] {
    subscriptions.filter { plan.products[$0].subscriptionGroupID == plan.products[product].subscriptionGroupID }
  }

  /// What changing from one product of a group to another is.
  func change(from old: Int, to new: Int) -> ProductChange {
    let (old, new) = (plan.products[old], plan.products[new])
    if new.level < old.level { return .upgrade }
    if new.level > old.level { return .downgrade }
    // Within a level the same duration is reported as an upgrade and takes effect at once.
    return new.period == old.period ? .upgrade : .crossgrade
  }
}

/// Apple: a change to a higher level happens at once; to a lower one, or to another duration, with the next period.
enum ProductChange: Hashable, Sendable {
  case upgrade, downgrade, crossgrade
}
