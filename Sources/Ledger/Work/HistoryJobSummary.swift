package import Database
package import Purchases
package import Time

package struct HistoryJobSummary: Sendable {
  package let kind: HistoryJobTable.Kind
  package let environment: Environment
  package let subject: String
  package let state: HistoryJobTable.State
  package let attempts: Int
  package let createdAt: Timestamp
  /// The time of the next try, or the end of the lease.
  package let dueAt: Timestamp
  package let isLeased: Bool
  package let settledAt: Timestamp?
  /// The outcome, or the reason why the last attempt failed.
  package let reason: String?
}

package struct HistoryJobCount: Hashable, Sendable {
  package let kind: HistoryJobTable.Kind
  package let environment: Environment
  package let state: HistoryJobTable.State
  package let reason: String
  package let count: Int
}

extension HistoryJobTable {
  package enum Progress: Hashable, Sendable {
    /// Any process with capacity may look it up now.
    case due
    /// A process looks it up now.
    case leased
    case putOff
    case settled(State)
  }

  package static func counts(of app: App, in session: borrowing Session) throws(DatabaseError) -> [HistoryJobCount] {
    var counts: [HistoryJobCount] = []
    for row in try session.query(
      """
      SELECT environment, kind, state, COALESCE(reason, '') AS why, COUNT(*) AS count FROM work
      WHERE app = \(app.id.number) GROUP BY environment, kind, state, why
      ORDER BY environment, kind, state, count DESC, why LIMIT 1000
      """)
    {
      counts.append(
        HistoryJobCount(
          kind: try kind(of: row), environment: try Environment(code: row.int("environment")),
          state: try state(of: row),
          reason: try row.text("why"), count: try row.int("count")))
    }
    return counts
  }

  package static func depths(in session: borrowing Session) throws(DatabaseError) -> [AppScope: [Kind: [State: Int]]] {
    var depths: [AppScope: [Kind: [State: Int]]] = [:]
    for row in try session.query(
      "SELECT app, environment, kind, state, COUNT(*) AS count FROM work GROUP BY app, environment, kind, state")
    {
      let scope = AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment")))
      depths[scope, default: [:]][try kind(of: row), default: [:]][try state(of: row)] = try row.int("count")
    }
    return depths
  }

  /// Returns the app's IDs, soonest due first.
  package static func list(
    of app: App, _ states: [State], limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [HistoryJobSummary] {
    var rows: [HistoryJobSummary] = []
    for row in try session.query(
      """
      SELECT kind, environment, subject, state, attempts, created_at, due_at, owner IS NOT NULL AS is_leased, settled_at,
        reason
      FROM work WHERE app = \(app.id.number) AND state IN (\(list: states.map(\.rawValue)))
      ORDER BY due_at, id LIMIT \(limit)
      """)
    {
      rows.append(
        HistoryJobSummary(
          kind: try kind(of: row), environment: try Environment(code: row.int("environment")),
          subject: try row.text("subject"),
          state: try state(of: row), attempts: try row.int("attempts"), createdAt: try row.milliseconds("created_at"),
          dueAt: try row.milliseconds("due_at"), isLeased: try row.bool("is_leased"),
          settledAt: try row.optionalMilliseconds("settled_at"), reason: try row.optionalText("reason")))
    }
    return rows
  }

  /// Returns the states of the IDs, without unknown ones.
  package static func states(
    of ids: [String], as kind: Kind = .history, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: State] {
    var states: [String: State] = [:]
    for row in try session.query(
      "SELECT subject, state FROM work WHERE \(in: scope) AND kind = \(kind.rawValue) AND subject IN (\(list: ids))")
    {
      states[try row.text("subject")] = try state(of: row)
    }
    return states
  }

  /// Returns the progress of the IDs at one moment, without unknown ones.
  package static func standings(
    of ids: [String], as kind: Kind = .history, in scope: AppScope, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Progress] {
    var standings: [String: Progress] = [:]
    for row in try session.query(
      """
      SELECT subject, state, owner IS NOT NULL AS is_owned, due_at FROM work
      WHERE \(in: scope) AND kind = \(kind.rawValue) AND subject IN (\(list: ids))
      """)
    {
      let (state, isDue) = (try state(of: row), try row.milliseconds("due_at") <= now)
      standings[try row.text("subject")] =
        state == .waiting ? isDue ? .due : try row.bool("is_owned") ? .leased : .putOff : .settled(state)
    }
    return standings
  }

  /// Returns the time when each ID was last settled, with any outcome, or of its next lookup.
  ///
  /// IDs without a row are omitted.
  package static func datesAsked(
    of ids: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Timestamp] {
    var dates: [String: Timestamp] = [:]
    for row in try session.query(
      """
      SELECT subject, MAX(COALESCE(settled_at, due_at)) AS date FROM work
      WHERE \(in: scope) AND kind IN (\(list: Kind.allCases.map(\.rawValue))) AND subject IN (\(list: ids)) GROUP BY subject
      """)
    { dates[try row.text("subject")] = try row.milliseconds("date") }
    return dates
  }

  /// Makes failed, unknown or delayed IDs due again, and returns their number.
  ///
  /// Leased rows are unchanged. Settled claimed rows too: the next claim queues them.
  package static func retry(
    of app: App, _ states: [State], at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let changed = try session.execute(
      """
      UPDATE work SET state = 0, attempts = 0, due_at = \(now), settled_at = NULL, reason = NULL, unknown_in = NULL
      WHERE app = \(app.id.number) AND state IN (\(list: states.map(\.rawValue))) AND owner IS NULL
        AND (state = 0 OR kind NOT IN (\(list: Kind.claimed.map(\.rawValue))))
      """)
    return Int(changed.affectedRows)
  }

  /// Makes rows that wait until `limit` at the latest due now.
  ///
  /// Leased rows are unchanged.
  package static func bringForward(
    in scope: AppScope, dueBefore limit: Timestamp, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE \(Table.work.by("in_order")) SET due_at = \(now) WHERE \(in: scope)
        AND kind IN (\(list: Kind.allCases.map(\.rawValue))) AND state = 0 AND due_at > \(now) AND due_at <= \(limit)
        AND owner IS NULL
      """)
  }

  package static func canRetry(_ kind: Kind, _ state: State) -> Bool { state == .waiting || !kind.isClaimed }

  static func kind(of row: Row) throws(DatabaseError) -> Kind {
    guard let kind = Kind(rawValue: try row.int("kind")) else {
      throw DatabaseError(.column, "a kind of work this build does not know: \(try row.int("kind"))")
    }
    return kind
  }

  private static func state(of row: Row) throws(DatabaseError) -> State {
    guard let state = State(rawValue: try row.int("state")) else {
      throw DatabaseError(.column, "a state of work this build does not know: \(try row.int("state"))")
    }
    return state
  }
}
