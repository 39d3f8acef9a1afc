package import Database
package import Ledger
package import Purchases
package import Rollout
package import Time

/// Sets the limits that return an app to `shadow` automatically.
package struct SetGuard: Sendable {
  package struct Plan: Sendable {
    package let scope: AppScope
    package let bundleID: String
    package let before: GuardRule
    package let after: GuardRule
  }

  private let bundleID: String
  private let environment: Environment
  private let change: @Sendable (inout GuardRule) -> Void

  package init(
    of bundleID: String, in environment: Environment, _ change: @escaping @Sendable (inout GuardRule) -> Void
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.change = change
  }

  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let scope = AppScope(app: app.id, environment: environment)
    let before = try await connection.read { session throws(DatabaseError) in
      try GuardTable.rule(of: scope, in: session)
    }
    var after = before
    change(&after)
    return Plan(scope: scope, bundleID: bundleID, before: before, after: after)
  }

  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    guard plan.before != plan.after else { return }
    try await connection.transaction { session throws(DatabaseError) in
      try GuardTable.set(plan.after, of: plan.scope, at: now, in: session)
      try author.note(
        "rollout.guard.set", of: plan.bundleID,
        """
        \(plan.scope.environment.rawValue): impact \(plan.after.mostImpact) ppm, \(plan.after.window) s, \
        \(plan.after.leastCustomers) customers, errors \(plan.after.mostErrors) ppm, \
        latency \(plan.after.mostLatency) % of Apple's, \(plan.after.leastCalls) calls
        """, at: now, in: session)
    }
  }
}
