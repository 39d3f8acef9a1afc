package import Signing
package import Time

/// A whole App Store in memory: apps, customers, and everything that happens to them, told by notifications.
///
/// A value without I/O and without locks: whoever serves it puts it behind one. The same plan, seed and start tell the
/// same, whatever the steps in which its time advances; acts are part of that when they come at the same times. Nothing
/// is signed in it: payloads are made when asked for, and signed by who asks.
package struct AppStoreWorld: Sendable {
  package let seed: UInt64
  package let start: Milliseconds
  package private(set) var now: Milliseconds
  package let apps: [AppPlan]
  let markets: [Market]
  var households: [Household] = []
  var agenda = Agenda()
  /// Things that happened and have not been told yet: household and place in its log.
  private var untold: [(due: Milliseconds, household: Int, place: Int)] = []

  /// A world whose customers are still to come; `advance` lets them.
  ///
  /// - Precondition: at most 1,000,000 households; product ids of an app and bundle ids are unique.
  package init(plan: WorldPlan, seed: UInt64, start: Milliseconds) {
    self.seed = seed
    self.start = Milliseconds(start.wholeSeconds * 1_000)
    now = self.start
    apps = plan.apps
    markets = plan.apps.enumerated().map { Market($0.element, index: $0.offset, seed: seed) }
    for (index, app) in plan.apps.enumerated() {
      populate(index, with: app.customers, in: app.app.environment)
      populate(index, with: app.testers, in: .sandbox)
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
    hasAccountToken: Bool = true, usesStoreKit1: Bool = false, joining relative: CustomerID? = nil
  ) throws(EnrolmentError) -> CustomerID {
    guard let app = apps.firstIndex(where: { $0.app.bundleID == bundleID }) else { throw .unknownApp }
    var member = Household.Member(
      storefront: storefront, hasAccountToken: hasAccountToken, usesStoreKit1: usesStoreKit1,
      downloadedAt: Milliseconds(now.wholeSeconds * 1_000))
    member.hasJoined = true
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
    planPriceChanges(of: number)
    return CustomerID(household: number)
  }

  /// Lets time pass until `date`; an earlier one changes nothing.
  package mutating func advance(to date: Milliseconds) {
    while let event = agenda.take(dueAt: date) {
      now = max(now, event.date)
      let number = Int(event.household)
      live(number) { household, market in household.happen(event, in: market) }
    }
    now = max(now, date)
  }

  package mutating func advance(by interval: Interval) { advance(to: now + interval) }

  /// When something happens next by itself; nil: never.
  package var nextEvent: Milliseconds? { agenda.next }

  /// Lets something happen to a household, and takes over what it plans and tells.
  mutating func live(_ number: Int, _ body: (inout Household, Market) -> Void) {
    let told = households[number].log.count
    body(&households[number], markets[Int(households[number].app)])
    for event in households[number].planned { agenda.add(event) }
    households[number].planned.removeAll(keepingCapacity: false)
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

  /// When the next notification is due; nil: none is under way.
  package var nextNotification: Milliseconds? { untold.map(\.due).min() }

  private mutating func populate(_ app: Int, with count: Int, in environment: AppStoreEnvironment) {
    let habits = apps[app].habits
    let arrival = Int(max(1_000, apps[app].arrival.milliseconds) / 1_000)
    var left = count
    households.reserveCapacity(households.count + count)
    while left > 0 {
      let number = households.count
      precondition(number < WorldIdentifiers.households, "more households than a world has ids for")
      var random = SplitMix64(seed: seed, part: number)
      func likely(_ thousandths: Int) -> Bool { random.number(in: 0..<1_000) < thousandths }
      let size = min(left, likely(habits.isFamily) ? random.number(in: 2..<6) : 1)
      let storefront = random.element(of: Storefront.all)
      var dates: [Milliseconds] = []
      var members: [Household.Member] = []
      for _ in 0..<size {
        let date = start + .seconds(Int64(random.number(in: 0..<arrival)))
        dates.append(date)
        members.append(
          Household.Member(
            storefront: storefront, hasAccountToken: likely(habits.hasAccountToken),
            usesStoreKit1: likely(habits.usesStoreKit1), downloadedAt: date))
      }
      let isSharing = size > 1 && likely(habits.sharesWithFamily)
      var household = Household(
        number: number, members: members, app: app, environment: environment, random: random)
      household.isSharing = isSharing
      for (member, date) in dates.enumerated() { household.plan(.join, at: date, of: member) }
      households.append(household)
      planPriceChanges(of: number)
      left -= size
    }
  }

  private mutating func planPriceChanges(of number: Int) {
    let changes = apps[Int(households[number].app)].priceChanges
    for (index, change) in changes.enumerated() where change.date > now {
      households[number].plan(.changePrice, at: change.date, of: 0, index: index)
    }
    for event in households[number].planned { agenda.add(event) }
    households[number].planned.removeAll(keepingCapacity: false)
  }
}
