package import Signing
package import Time

/// A whole App Store in memory: apps, customers, and everything that happens to them, told by notifications.
///
/// A value without I/O and without locks: whoever serves it puts it behind one. The same plan, seed and start tell the
/// same, whatever the steps in which its time advances; acts are part of that when they come at the same times. Nothing
/// is signed in it: payloads are made when asked for, and signed by who asks.
package struct AppStoreWorld: Sendable {
  package let seed: UInt64
  package let start: Timestamp
  package private(set) var now: Timestamp
  package let apps: [AppPlan]
  let markets: [AppMarket]
  var households: [Household] = []
  var agenda = EventQueue()
  /// Things that happened and have not been told yet: household and place in its log.
  private var untold: [(due: Timestamp, household: Int, place: Int)] = []

  /// A world whose customers are still to come; `advance` lets them.
  ///
  /// - Precondition: at most 1,000,000 households; product ids of an app and bundle ids are unique.
  package init(plan: WorldPlan, seed: UInt64, start: Timestamp) {
    self.seed = seed
    self.start = Timestamp(start.wholeSeconds * 1_000)
    now = self.start
    apps = plan.apps
    let population = Population(plan: plan, seed: seed, start: start)
    precondition(population.count <= WorldIdentifiers.households, "more households than a world has ids for")
    markets = population.markets
    households.reserveCapacity(population.count)
    for number in 0..<population.count {
      households.append(population.household(number))
      takePlans(of: number)
    }
  }

  package enum EnrolmentError: Error, Hashable, Sendable {
    case unknownApp
    /// Nobody of that app and environment to join.
    case unknownRelative
    /// A family of six, or a world of a million households.
    case full
  }

  /// A new customer by hand, alone or joining somebody's family, who has downloaded the app now.
  package mutating func enrol(
    in bundleID: String, environment: AppStoreEnvironment, storefront: Storefront = .unitedStates,
    hasAccountToken: Bool = true, usesStoreKit1: Bool = false, preorderedAt: Timestamp? = nil,
    licence: VolumeLicence? = nil, joining relative: CustomerID? = nil
  ) throws(EnrolmentError) -> CustomerID {
    guard let app = apps.firstIndex(where: { $0.app.bundleID == bundleID }) else { throw .unknownApp }
    var member = Household.Member(
      storefront: storefront, hasAccountToken: hasAccountToken, usesStoreKit1: usesStoreKit1,
      downloadedAt: Timestamp(now.wholeSeconds * 1_000))
    member.hasJoined = true
    member.preorderedAt = preorderedAt
    member.licence = licence
    if let relative {
      guard contains(relative), households[relative.household].app == Int32(app),
        households[relative.household].environment == environment
      else { throw .unknownRelative }
      guard households[relative.household].members.count < 6 else { throw .full }
      households[relative.household].members.append(member)
      return CustomerID(household: relative.household, member: households[relative.household].members.count - 1)
    }
    guard households.count < WorldIdentifiers.households else { throw .full }
    let number = households.count
    households.append(
      Household(
        number: number, members: [member], app: app, environment: environment,
        random: SplitMix64(seed: seed, part: number)))
    households[number].planPriceChanges(after: now, in: markets[app])
    takePlans(of: number)
    return CustomerID(household: number)
  }

  /// Lets time pass until `date`; an earlier one changes nothing.
  package mutating func advance(to date: Timestamp) {
    while let event = agenda.take(dueAt: date) {
      now = max(now, event.date)
      let number = Int(event.household)
      live(number) { household, market in household.happen(event, in: market) }
    }
    now = max(now, date)
  }

  package mutating func advance(by interval: Interval) { advance(to: now + interval) }

  /// When something happens next by itself; nil: never.
  package var nextEvent: Timestamp? { agenda.next }

  /// Lets something happen to a household, and takes over what it plans and tells.
  mutating func live(_ number: Int, _ body: (inout Household, AppMarket) -> Void) {
    let told = households[number].log.count
    body(&households[number], markets[Int(households[number].app)])
    takePlans(of: number)
    for place in told..<households[number].log.count where households[number].log[place].kind.v2 != nil {
      untold.append((households[number].log[place].due, number, place))
    }
  }

  /// What is due to arrive until now and was not taken yet, the earliest first.
  package mutating func drainNotifications() -> [WorldNotification] {
    let now = now
    var due = untold.filter { $0.due <= now }
    guard !due.isEmpty else { return [] }
    untold.removeAll { $0.due <= now }
    due.sort { ($0.due, $0.household, $0.place) < ($1.due, $1.household, $1.place) }
    return due.map { entry in
      let household = households[entry.household]
      return WorldNotification(household.log[entry.place], of: household, in: markets[Int(household.app)])
    }
  }

  private mutating func takePlans(of number: Int) {
    for event in households[number].planned { agenda.add(event) }
    households[number].planned.removeAll(keepingCapacity: false)
  }
}
