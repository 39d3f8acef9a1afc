package import Database
package import Ledger
package import Time

/// Makes IDs that Apple did not know, or with a failed lookup, due again.
///
/// Waiting IDs are due immediately.
package struct RetryHistoryJobs: Sendable {
  package struct Plan: Sendable {
    package let app: App
    package let ids: Int
  }

  private let bundleID: String
  private let states: [HistoryJobTable.State]

  /// - Parameter states: the states of the IDs.
  ///
  /// `done` is ignored.
  package init(of bundleID: String, _ states: [HistoryJobTable.State]) {
    self.bundleID = bundleID
    self.states = states.filter { $0 != .done }
  }

  /// Returns the number of IDs.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let counts = try await connection.read { session throws(DatabaseError) in
      try HistoryJobTable.counts(of: app, in: session)
    }
    let chosen = counts.filter { states.contains($0.state) && HistoryJobTable.canRetry($0.kind, $0.state) }
    return Plan(app: app, ids: chosen.reduce(0) { $0 + $1.count })
  }

  /// Makes the IDs due and returns their number, which may have changed since the plan.
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
