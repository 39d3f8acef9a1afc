import JSON
import Signing
import Simulator
import Testing
import Time

@Suite struct `A world` {
  private static let start = Milliseconds(1_750_000_000_000)

  private static func world(customers: Int = 60, seed: UInt64 = 7) -> AppStoreWorld {
    var app = AppPlan.sample("com.example.notes")
    app.customers = customers
    app.habits = .lively
    app.priceChanges = [
      AppPlan.PriceChange(of: "plus.monthly", at: start + .days(150), to: 6_990, needsConsent: true),
      AppPlan.PriceChange(of: "pro.monthly", at: start + .days(200), to: 10_990, needsConsent: false),
    ]
    return AppStoreWorld(plan: WorldPlan(apps: [app]), seed: seed, start: start)
  }

  private static func told(_ world: inout AppStoreWorld, by interval: Interval, until end: Interval) -> [NotificationDraft]
  {
    var told: [NotificationDraft] = []
    while world.now < start + end {
      world.advance(to: min(world.now + interval, start + end))
      told += world.drainNotifications().compactMap(\.v2)
    }
    return told
  }

  @Test func `tells the same whatever the steps in which its time passes`() {
    var (days, year) = (Self.world(), Self.world())
    let inDays = Self.told(&days, by: .hours(31), until: .days(365))
    let atOnce = Self.told(&year, by: .days(365), until: .days(365))
    #expect(inDays.count > 500)
    #expect(inDays == atOnce)
    #expect(days.customers().map { days.transactions(of: $0) } == year.customers().map { year.transactions(of: $0) })
  }

  @Test func `lets everything happen in a year`() {
    var world = Self.world(customers: 400)
    world.advance(by: .days(400))
    let kinds = Set(world.customers().flatMap { world.log(of: $0).map(\.kind) })
    #expect(Set(Happening.Kind.allCases).subtracting(kinds) == [.accountTokenSet])
  }
}
