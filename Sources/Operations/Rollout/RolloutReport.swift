package import Database
package import Ledger
package import Purchases
package import Rollout
package import Time

/// The history of an app's rollout in one environment, for the final approval.
package struct RolloutReport: Sendable {
  package let standing: AppRollout
  /// The statistics of all stored comparisons.
  package let figures: ComparisonStatistics
  package let evidence: RolloutEvidence
  package let ids: Int
  /// The changes with their time, author and reason, oldest first.
  package let changes: [AuditTable.Record]

  /// The maximum number of listed changes, the newest ones.
  private static let mostChanges = 1_000

  /// Returns the report.
  ///
  /// Throws `NoSuchApp`.
  package static func read(
    _ bundleID: String, in environment: Environment, at now: Timestamp, on connection: Connection
  ) async throws -> RolloutReport {
    let plan = try await AdvanceRollout(bundleID, in: environment).plan(at: now, on: connection)
    return try await connection.read { session throws(DatabaseError) in
      let scope = plan.standing.scope
      let changes = try AuditTable.newest(of: bundleID, actions: "rollout.", limit: mostChanges, in: session)
      return RolloutReport(
        standing: plan.standing,
        figures: try ComparisonStatistics.read(scope, since: Timestamp(0), in: session), evidence: plan.evidence,
        ids: try KnownOriginals.count(in: scope, session),
        changes: changes.filter { $0.reason.hasPrefix(environment.rawValue + ":") }.reversed())
    }
  }
}
