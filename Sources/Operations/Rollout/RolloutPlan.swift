package import Database
import Ledger
import Purchases
package import Rollout
package import Time

/// The missing evidence of each app's next step, and the time it needs at the last day's rate.
package struct RolloutPlan: Sendable {
  package let next: AdvanceRollout.Plan
  package let ids: Int
  package let comparedADay: Int
  /// The minimum time until the step can be proven.
  ///
  /// `nil` if an operator must act first, or without data of the last day.
  package let wait: Interval?

  /// Returns every app and environment, those with the fewest IDs first: the recommended order of migration.
  package static func all(
    asking demand: RolloutEvidence.Requirements, by clock: WallClock, on connection: Connection
  ) async throws -> [RolloutPlan] {
    let standings = try await connection.read { session throws(DatabaseError) in try AppRollout.all(in: session) }
    var plans: [RolloutPlan] = []
    for standing in standings {
      let now = clock.now()
      let (ids, compared) = try await connection.read { session throws(DatabaseError) in
        (
          try KnownOriginals.count(in: standing.scope, session),
          try ComparisonStatistics.read(standing.scope, since: now - .hours(24), in: session).customers
        )
      }
      let advance = AdvanceRollout(standing.app.bundleID, in: standing.flag.environment, asking: demand)
      let next = try await advance.plan(at: clock.now(), on: connection)
      plans.append(
        RolloutPlan(
          next: next, ids: ids, comparedADay: compared, wait: wait(for: next.missing, comparedADay: compared)))
    }
    return plans.sorted {
      let (a, b) = ($0.next.standing, $1.next.standing)
      if $0.ids != $1.ids { return $0.ids < $1.ids }
      return (a.app.bundleID, a.flag.environment.rawValue) < (b.app.bundleID, b.flag.environment.rawValue)
    }
  }

  /// - Parameter compared: the customers compared in the last day.
  static func wait(for missing: [MissingEvidence], comparedADay compared: Int) -> Interval? {
    var longest = Interval.milliseconds(0)
    for item in missing {
      guard item.comesByItself else { return nil }
      let days: Int
      switch item {
      case .comparisons(let customers, let needed):
        guard compared > 0 else { return nil }
        days = (needed - customers + compared - 1) / compared
      case .guardVerdict(let seen?, _):
        guard compared > 0 else { return nil }
        days = (seen.rule.leastCustomers - seen.customers + compared - 1) / compared
      case .completeness(let measured, _, let needed): days = needed - measured
      default: return nil
      }
      guard days <= Int(RolloutEvidence.comparedWithin.milliseconds / 86_400_000) else { return nil }
      longest = max(longest, .days(Int64(max(1, days))))
    }
    return longest
  }
}
