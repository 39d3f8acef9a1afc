package import Database
package import Ledger
package import Purchases
package import Rollout
package import Time

/// How an app was moved in one environment: for the file of whoever signs it off.
package struct RolloutReport: Sendable {
  package let standing: AppRollout
  /// Of every comparison that is still kept.
  package let figures: ComparisonStatistics
  /// As it is now.
  package let evidence: RolloutEvidence
  /// OriginalTransactionIds that are known.
  package let ids: Int
  /// What was changed, when, by whom and why, the oldest first.
  package let changes: [AuditTable.Record]

  /// Changes that are listed at most, the newest ones.
  private static let mostChanges = 1_000

  /// `NoSuchApp` when the app is not registered.
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
