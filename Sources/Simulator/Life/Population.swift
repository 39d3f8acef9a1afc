import Signing
package import Time

/// The households of a world without orders; each can be made independently, in any order.
///
/// The same plan, seed and start give the same people, here or in an `AppStoreWorld`.
package struct Population: Sendable {
  private struct Part: Sendable {
    let households: Range<Int>
    let app: Int
    let environment: AppStoreEnvironment
    /// The number of customers in the last household.
    let last: Int
  }

  package let start: Timestamp
  let markets: [AppMarket]
  private let seed: UInt64
  private var parts: [Part] = []

  /// - Precondition: at most 10,000,000 households; product ids of an app and bundle ids are unique.
  package init(plan: WorldPlan, seed: UInt64, start: Timestamp) {
    self.seed = seed
    self.start = Timestamp(start.wholeSeconds * 1_000)
    markets = plan.apps.enumerated().map { AppMarket($0.element, index: $0.offset, seed: seed) }
    for (index, app) in plan.apps.enumerated() {
      settle(app.customers, of: index, in: app.app.environment)
      settle(app.testers, of: index, in: .sandbox)
    }
    precondition(count <= WorldIdentifiers.mostHouseholds, "more households than there are ids for")
  }

  /// The number of households, which are numbered from 0.
  package var count: Int { parts.last?.households.upperBound ?? 0 }

  private mutating func settle(_ customers: Int, of app: Int, in environment: AppStoreEnvironment) {
    guard customers > 0 else { return }
    let first = count
    guard markets[app].plan.habits.isFamily > 0 else {
      // Without families, each household has one customer.
      parts.append(Part(households: first..<first + customers, app: app, environment: environment, last: 1))
      return
    }
    var (number, left, last) = (first, customers, customers)
    while left > 0 {
      var random = SplitMix64(seed: seed, part: number)
      last = left
      left -= Self.size(markets[app].plan.habits, atMost: left, &random)
      number += 1
    }
    parts.append(Part(households: first..<number, app: app, environment: environment, last: last))
  }

  private static func size(_ habits: BehaviorRates, atMost most: Int, _ random: inout SplitMix64) -> Int {
    let isFamily = random.number(in: 0..<1_000) < habits.isFamily
    return min(most, isFamily ? random.number(in: 2..<6) : 1)
  }

  /// Creates the household before its first event, with all its planned events.
  func household(_ number: Int) -> Household {
    guard let part = parts.first(where: { $0.households.contains(number) }) else {
      preconditionFailure("no household \(number)")
    }
    let market = markets[part.app]
    let habits = market.plan.habits
    let arrival = Int(max(1_000, market.plan.arrival.milliseconds) / 1_000)
    var random = SplitMix64(seed: seed, part: number)
    func likely(_ thousandths: Int) -> Bool { random.number(in: 0..<1_000) < thousandths }
    let room = number == part.households.upperBound - 1 ? part.last : .max
    let size = Self.size(habits, atMost: room, &random)
    let storefront = random.element(of: Storefront.all)
    var members: [Household.Member] = []
    for _ in 0..<size {
      let date = start + .seconds(Int64(random.number(in: 0..<arrival)))
      members.append(
        Household.Member(
          storefront: storefront, hasAccountToken: likely(habits.hasAccountToken),
          usesStoreKit1: likely(habits.usesStoreKit1), downloadedAt: date))
    }
    for member in members.indices {
      if habits.preorders > 0, likely(habits.preorders) {
        members[member].preorderedAt = start - .days(Int64(random.number(in: 1..<30)))
      }
      if habits.hasVolumeLicence > 0, likely(habits.hasVolumeLicence) {
        members[member].licence = VolumeLicence(of: "Example School", until: members[member].downloadedAt + .days(365))
      }
    }
    let isSharing = size > 1 && likely(habits.sharesWithFamily)
    var household = Household(
      number: number, members: members, app: part.app, environment: part.environment, random: random)
    household.isSharing = isSharing
    for (member, person) in members.enumerated() { household.plan(.join, at: person.downloadedAt, of: member) }
    household.planPriceChanges(after: start, in: market)
    return household
  }

  package func life(_ number: Int) -> HouseholdLife {
    let household = household(number)
    return HouseholdLife(household, in: markets[Int(household.app)], from: start)
  }
}
