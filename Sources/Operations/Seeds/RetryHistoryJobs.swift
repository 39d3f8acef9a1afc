package import Database
package import Ledger
package import Time

/// Asks Apple anew about ids that it did not know, or that failed; what waits is due at once.
package struct RetryHistoryJobs: Sendable {
  /// What would be asked about.
  package struct Plan: Sendable {
    package let app: App
    package let ids: Int
  }

  private let bundleID: String
  private let states: [HistoryJobTable.State]

  /// - Parameter states: the ids that stand so; what is done is not asked about anew.
  package init(of bundleID: String, _ states: [HistoryJobTable.State]) {
    self.bundleID = bundleID
    self.states = states.filter { $0 != .done }
  }

  /// What would be asked about; `NoSuchApp` when it is not registered.
  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let counts = try await connection.read { session throws(DatabaseError) in
      try HistoryJobTable.counts(of: app, in: session)
    }
    let chosen = counts.filter { states.contains($0.state) && HistoryJobTable.canRetry($0.kind, $0.state) }
    return Plan(app: app, ids: chosen.reduce(0) { $0 + $1.count })
  }

  /// Makes them due; how many, which others may have changed since the plan.
  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> Int {
    try await connection.transaction { session throws(DatabaseError) in
      let count = try HistoryJobTable.retry(of: plan.app, states, at: now, in: session)
      try author.note("seeds.retry", of: plan.app.bundleID, "\(count) ids", at: now, in: session)
      return count
    }
  }
}
