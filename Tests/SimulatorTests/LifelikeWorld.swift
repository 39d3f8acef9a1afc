/// A world in which everything happens, for tests to look at from all sides.
enum LifelikeWorld {
  static func plan(customers: Int) -> AppPlan {
    var app = AppPlan.sample("com.example.notes")
    app.customers = customers
    app.habits = .lively
    app.priceChanges = [
      AppPlan.PriceChange(of: "plus.monthly", at: Bench.start + .days(150), to: 6_990, needsConsent: true),
      AppPlan.PriceChange(of: "pro.monthly", at: Bench.start + .days(200), to: 10_990, needsConsent: false),
    ]
    return app
  }

  static func make(customers: Int, seed: UInt64 = 7) -> AppStoreWorld {
    AppStoreWorld(plan: WorldPlan(apps: [plan(customers: customers)]), seed: seed, start: Bench.start)
  }

  /// After a year, everything told.
  static func year(customers: Int, seed: UInt64 = 7) -> (world: AppStoreWorld, told: [WorldNotification]) {
    var world = make(customers: customers, seed: seed)
    world.advance(by: .days(365))
    // What is under way arrives within seconds.
    world.advance(by: .minutes(10))
    return (world, world.drainNotifications())
  }

  /// An app to which nothing happens by itself, and one customer of it.
  static func quiet(hasGrace: Bool = true, era: V1Era = .current) throws -> (AppStoreWorld, CustomerID) {
    var app = AppPlan.sample("com.example.notes")
    app.hasGrace = hasGrace
    app.era = era
    app.era.sandboxSendsEverything = true
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 1, start: Bench.start)
    let customer = try world.enrol(in: "com.example.notes", environment: .sandbox)
    return (world, customer)
  }
}

extension JSONObject {
  func text(_ key: String) -> String? { self[key]?.string }
  func number(_ key: String) -> Int64? { self[key]?.integer }

  /// What it says, whatever the order.
  var byKey: [String: JSONValue] { Dictionary(map { ($0.key, $0.value) }) { first, _ in first } }

  func without(_ keys: String...) -> [String: JSONValue] { byKey.filter { !keys.contains($0.key) } }
}
