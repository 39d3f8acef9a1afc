package import Database
package import Rollout
package import Time

/// `guards`: the limits that return an app to `shadow` automatically.
///
/// Without a row the build's default applies.
package enum GuardTable {
  package static func rule(of scope: AppScope, in session: borrowing Session) throws(DatabaseError) -> GuardRule {
    try all(in: session)[scope] ?? GuardRule()
  }

  package static func all(in session: borrowing Session) throws(DatabaseError) -> [AppScope: GuardRule] {
    var rules: [AppScope: GuardRule] = [:]
    for row in try session.query(
      """
      SELECT app, environment, most_impact, window_seconds, least_customers, most_errors, most_latency, least_calls
      FROM guards
      """)
    {
      var rule = GuardRule()
      rule.mostImpact = try row.int("most_impact")
      rule.window = try row.int("window_seconds")
      rule.leastCustomers = try row.int("least_customers")
      rule.mostErrors = try row.int("most_errors")
      rule.mostLatency = try row.int("most_latency")
      rule.leastCalls = try row.int("least_calls")
      rules[AppScope(app: App.ID(try row.int("app")), environment: try .init(code: row.int("environment")))] = rule
    }
    return rules
  }

  package static func set(
    _ rule: GuardRule, of scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO guards (app, environment, most_impact, window_seconds, least_customers, most_errors, most_latency,
        least_calls, changed_at)
      VALUES (\(scope.app.number), \(scope.environment.code), \(rule.mostImpact), \(rule.window),
        \(rule.leastCustomers), \(rule.mostErrors), \(rule.mostLatency), \(rule.leastCalls), \(now))
      ON DUPLICATE KEY UPDATE most_impact = VALUES(most_impact), window_seconds = VALUES(window_seconds),
        least_customers = VALUES(least_customers), most_errors = VALUES(most_errors),
        most_latency = VALUES(most_latency), least_calls = VALUES(least_calls), changed_at = VALUES(changed_at)
      """)
  }
}
