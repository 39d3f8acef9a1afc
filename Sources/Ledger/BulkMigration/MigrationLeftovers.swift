package import Database
package import Purchases

package struct UnresolvedID: Hashable, Sendable {
  package enum State: String, Hashable, Sendable { case open, unknown, failed }

  package let app: App.ID
  package let environment: Environment?
  package let id: String
  package let state: State
  /// Apple's response, or the reason why there was no lookup.
  ///
  /// Empty if there is no reason yet.
  package let reason: String
}

package enum MigrationLeftovers {
  /// Returns the number of a job's IDs by app, state and reason, most frequent first.
  package static func counts(
    of job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [(app: App.ID, state: UnresolvedID.State, reason: String, count: Int)] {
    var counts: [(app: App.ID, state: UnresolvedID.State, reason: String, count: Int)] = []
    for row in try session.query(
      """
      SELECT m.app, m.state, \(reason) AS why, COUNT(*) AS count FROM \(rows(of: job))
      GROUP BY m.app, m.state, why ORDER BY count DESC LIMIT 1000
      """)
    {
      counts.append(
        (
          app: App.ID(try row.int("app")), state: try state(row), reason: try row.text("why"),
          count: try row.int("count")
        ))
    }
    return counts
  }

  package static func list(
    of job: Int, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [UnresolvedID] {
    var leftovers: [UnresolvedID] = []
    for row in try session.query(
      """
      SELECT m.app, m.environment, m.id, m.state, \(reason) AS why FROM \(rows(of: job))
      ORDER BY m.state DESC, m.app, m.id LIMIT \(limit)
      """)
    {
      let environment = try row.int("environment")
      leftovers.append(
        UnresolvedID(
          app: App.ID(try row.int("app")), environment: environment == 0 ? nil : try Environment(code: environment),
          id: try row.text("id"), state: try state(row), reason: try row.text("why")))
    }
    return leftovers
  }

  private static let reason: SQL = "COALESCE(production.reason, sandbox.reason, '')"

  /// The IDs of a job that have no history, each with its work in both environments.
  ///
  /// One join for each environment: with a list the server would read every row of the app for each ID.
  private static func rows(of job: Int) -> SQL {
    func work(_ name: SQL, _ environment: Environment) -> SQL {
      """
      LEFT JOIN work \(name) FORCE INDEX (app) ON \(name).app = m.app AND \(name).environment = \(environment.code)
        AND \(name).kind = \(HistoryJobTable.Kind.history.rawValue) AND \(name).subject = m.id
        AND m.environment IN (0, \(environment.code))
      """
    }
    return """
      migration_ids m FORCE INDEX (by_state) \(work("production", .production)) \(work("sandbox", .sandbox))
      WHERE m.job = \(job) AND m.state <> \(MigrationIDTable.State.settled.rawValue)
      """
  }

  private static func state(_ row: Row) throws(DatabaseError) -> UnresolvedID.State {
    switch MigrationIDTable.State(rawValue: try row.int("state")) {
    case .unknown: .unknown
    case .failed: .failed
    case .waiting, .asked, .settled, nil: .open
    }
  }
}
