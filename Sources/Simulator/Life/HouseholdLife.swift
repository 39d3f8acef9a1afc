package import Time

/// One household that lives by itself, exactly as in a world on which nobody acts.
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

  /// Lets time pass until `date`.
  package mutating func advance(to date: Timestamp) {
    while let event = agenda.take(dueAt: date) { happen(event) }
    now = max(now, date)
  }

  /// Lets time pass until so many things have been told by Notifications V2, or nothing is planned any more.
  mutating func advance(untilTold count: Int) {
    while told < count, let date = agenda.next, let event = agenda.take(dueAt: date) { happen(event) }
  }

  private var told: Int { household.log.count { $0.kind.v2 != nil } }

  private mutating func happen(_ event: ScheduledEvent) {
    now = max(now, event.date)
    household.happen(event, in: market)
    takePlans()
  }

  /// Everything that is true of each of its members now.
  package var states: [CustomerState] {
    household.members.indices.map { household.state(of: $0, asOf: household.sequence, at: now, in: market) }
  }

  /// What was told and has arrived until now, the earliest first.
  package var notifications: [WorldNotification] { told(until: now) }

  func told(until date: Timestamp) -> [WorldNotification] {
    household.log.filter { $0.kind.v2 != nil && $0.due <= date }.map {
      WorldNotification($0, of: household, in: market)
    }
  }
}
