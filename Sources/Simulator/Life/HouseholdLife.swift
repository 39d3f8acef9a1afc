package import Time

/// One household without orders, identical to the same household in a world without orders.
package struct HouseholdLife: Sendable {
  private var household: Household
  private var agenda = EventQueue()
  private let market: AppMarket
  package private(set) var now: Timestamp

  init(_ household: Household, in market: AppMarket, from start: Timestamp) {
    self.household = household
    self.market = market
    now = start
    takePlans()
  }

  private mutating func takePlans() {
    for event in household.planned { agenda.add(event) }
    household.planned.removeAll(keepingCapacity: true)
  }

  /// Advances to `date`.
  package mutating func advance(to date: Timestamp) {
    while let event = agenda.take(dueAt: date) { happen(event) }
    now = max(now, date)
  }

  /// Advances until Notifications V2 reported `count` events, or until no event is planned.
  mutating func advance(untilTold count: Int) {
    while told < count, let date = agenda.next, let event = agenda.take(dueAt: date) { happen(event) }
  }

  private var told: Int { household.log.count { $0.kind.v2 != nil } }

  private mutating func happen(_ event: ScheduledEvent) {
    now = max(now, event.date)
    household.happen(event, in: market)
    takePlans()
  }

  package var states: [CustomerState] {
    household.members.indices.map { household.state(of: $0, asOf: household.sequence, at: now, in: market) }
  }

  /// The notifications that arrived until now, earliest first.
  package var notifications: [WorldNotification] { told(until: now) }

  func told(until date: Timestamp) -> [WorldNotification] {
    household.log.filter { $0.kind.v2 != nil && $0.due <= date }.map {
      WorldNotification($0, of: household, in: market)
    }
  }
}
