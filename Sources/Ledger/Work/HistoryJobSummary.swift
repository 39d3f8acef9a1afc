package import Database
package import Purchases
package import Time

/// A row of `work` as an operator sees it.
package struct HistoryJobSummary: Sendable {
  package let kind: HistoryJobTable.Kind
  package let environment: Environment
  package let subject: String
  package let state: HistoryJobTable.State
  /// How often an answer failed.
  package let attempts: Int
  package let createdAt: Timestamp
  /// When it is tried next, or its lease ends.
  package let dueAt: Timestamp
  package let isLeased: Bool
  package let settledAt: Timestamp?
  /// How it was settled, or why the last attempt failed.
  package let reason: String?
}

/// How many ids of an app stand in one way for one reason.
package struct HistoryJobCount: Hashable, Sendable {
  package let kind: HistoryJobTable.Kind
  package let environment: Environment
  package let state: HistoryJobTable.State
  /// Empty while nothing is to be told.
  package let reason: String
  package let count: Int
}

extension HistoryJobTable {
  /// How an id stands for whoever waits for it.
  package enum Progress: Hashable, Sendable {
    /// Anybody with time may ask about it now.
    case due
    /// Somebody asks about it now.
    case leased
    /// Nobody asks about it before some time.
    case putOff
    case settled(State)
  }

  /// How many ids of the app stand how, by kind, environment, state and reason.
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

  /// How many ids stand in each state, by kind, for each app and environment that has any.
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

  /// The app's ids, those that are due first, first.
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

  /// How the ids stand; those that were never heard of are absent.
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

  /// How the ids stand at one moment, and of those that wait, whether they are asked about now; strangers are absent.
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

  /// When each of these ids was settled last, whatever came of it, or is asked about next; ids that Apple was never to be
  /// asked about are absent.
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

  /// Has what was given up, unknown or put off asked about anew; how many ids.
  ///
  /// What is leased goes on as it is. What was only claimed is asked about while it waits: once it is settled, nothing is
  /// kept of what was claimed, and the next claim queues it.
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

  /// Has what waits until `limit` at the latest asked about now; what is leased goes on as it is.
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

  /// Whether `retry` asks about such ids anew.
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
