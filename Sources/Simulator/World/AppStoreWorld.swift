package import Signing
package import Time

/// An App Store in memory: apps, customers, and their events, reported by notifications.
///
/// A value without I/O and locks. The same plan, seed and start give the same events regardless of the steps in which
/// time advances, if acts come at the same times. Payloads are made and signed on demand.
package struct AppStoreWorld: Sendable {
  package let seed: UInt64
  package let start: Timestamp
  package private(set) var now: Timestamp
  package let apps: [AppPlan]
  let markets: [AppMarket]
  var households: [Household] = []
  var agenda = EventQueue()
  /// Events that are not yet reported: household and index in its log.
  private var untold: [(due: Timestamp, household: Int, place: Int)] = []

  /// Creates a world without customers; `advance` adds them.
  ///
  /// - Precondition: at most 1,000,000 households; product IDs of an app and bundle IDs are unique.
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
    case unknownRelative
    /// A family of six, or a world of a million households.
    case full
  }

  /// Adds a customer that downloads the app now, optionally to an existing family.
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

  /// Advances to `date`; an earlier one changes nothing.
  package mutating func advance(to date: Timestamp) {
    while let event = agenda.take(dueAt: date) {
      now = max(now, event.date)
      let number = Int(event.household)
      live(number) { household, market in household.happen(event, in: market) }
    }
    now = max(now, date)
  }

  package mutating func advance(by interval: Interval) { advance(to: now + interval) }

  /// The time of the next event without orders, if any.
  package var nextEvent: Timestamp? { agenda.next }

  /// Changes a household, and collects its new plans and notifications.
  mutating func live(_ number: Int, _ body: (inout Household, AppMarket) -> Void) {
    let told = households[number].log.count
    body(&households[number], markets[Int(households[number].app)])
    takePlans(of: number)
    for place in told..<households[number].log.count where households[number].log[place].kind.v2 != nil {
      untold.append((households[number].log[place].due, number, place))
    }
  }

  /// Returns the notifications due until now that were not returned before, earliest first.
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
