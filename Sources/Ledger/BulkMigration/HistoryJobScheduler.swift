package import Database
import Purchases
package import Time

/// Queues a job's IDs for lookups, a few at a time, and records the results.
///
/// One process does this for a job. `work` holds only IDs whose lookup is soon, so that other customers do not wait
/// behind a migration.
package struct HistoryJobScheduler: Sendable {
  package struct Turn: Hashable, Sendable {
    package var isElsewhere = false
    package var handedOut = 0
    /// Customers to look up because of those IDs.
    ///
    /// 0 without an allowance.
    package var calls = 0
    package var ended = 0
    package var asked = 0
    package var isDone = false
  }

  private let job: Int
  private let owner: [UInt8]

  package init(job: Int, owner: [UInt8]) { (self.job, self.owner) = (job, owner) }

  /// - Parameters:
  ///   - backlog: the maximum number of open lookups of an app and environment.
  ///   - allowance: the maximum number of customers to look up. `nil`: no limit.
  package func turn(
    backlog: Int, allowance: Int?, until lease: Timestamp, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Turn {
    var turn = Turn()
    guard try MigrationJobTable.held(job, in: session) == .running else { return turn }
    guard try claim(until: lease, at: now, in: session) else {
      turn.isElsewhere = true
      return turn
    }
    turn.ended = try note(in: session)
    var asked: [MigrationAccountTable.CountScope: Int] = [:]
    for row in try session.query(
      """
      SELECT app, environment, COUNT(*) AS count FROM migration_ids FORCE INDEX (by_state)
      WHERE job = \(job) AND state = \(MigrationIDTable.State.asked.rawValue) GROUP BY app, environment
      """)
    {
      asked[try Self.place(row)] = try row.int("count")
    }
    for place in try waitingPlaces(in: session) {
      let left = allowance.map { $0 - turn.calls }
      if let left, left <= 0 { break }
      let room = backlog - (asked[place] ?? 0)
      // A few at a time cost as much as many.
      guard room > 0, left != nil || room >= backlog / 4 else { continue }
      let (count, calls) = try handOut(in: place, limit: room, calls: left, at: now, session)
      asked[place, default: 0] += count
      turn.handedOut += count
      turn.calls += calls
    }
    turn.asked = asked.values.reduce(0, +)
    if turn.asked == 0, turn.handedOut == 0, try isDone(in: session) {
      turn.isDone = true
    }
    return turn
  }

  package func release(in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM migration_hand_outs WHERE job = \(job) AND owner = \(owner)")
  }

  private func claim(
    until lease: Timestamp, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    _ = try session.execute(
      """
      INSERT INTO migration_hand_outs (job, owner, lease_until) VALUES (\(job), \(owner), \(lease))
      ON DUPLICATE KEY UPDATE owner = IF(lease_until <= \(now), VALUES(owner), owner),
        lease_until = IF(owner = VALUES(owner), VALUES(lease_until), lease_until)
      """)
    let row = try session.query("SELECT owner FROM migration_hand_outs WHERE job = \(job)").first
    return try row?.bytes("owner") == owner
  }

  /// Returns the scopes with waiting IDs.
  ///
  /// One index lookup finds each.
  private func waitingPlaces(in session: borrowing Session) throws(DatabaseError) -> [MigrationAccountTable.CountScope]
  {
    var places: [MigrationAccountTable.CountScope] = []
    var (app, environment) = (-1, -1)
    while true {
      var next = try session.query(
        """
        SELECT app, environment FROM migration_ids FORCE INDEX (by_state)
        WHERE job = \(job) AND state = 0 AND app = \(app) AND environment > \(environment)
        ORDER BY app, environment LIMIT 1
        """
      ).first
      if next == nil {
        next = try session.query(
          """
          SELECT app, environment FROM migration_ids FORCE INDEX (by_state)
          WHERE job = \(job) AND state = 0 AND app > \(app) ORDER BY app, environment LIMIT 1
          """
        ).first
      }
      guard let next else { return places }
      (app, environment) = (try next.int("app"), try next.int("environment"))
      places.append(try Self.place(next))
    }
  }

  /// Hands out the first IDs of a scope.
  ///
  /// Returns their number and, with a limit `most`, that of the customers to look up.
  private func handOut(
    in place: MigrationAccountTable.CountScope, limit: Int, calls most: Int?, at now: Timestamp,
    _ session: borrowing Session
  ) throws(DatabaseError) -> (ids: Int, calls: Int) {
    guard let app = place.app else { return (0, 0) }
    var ids: [String] = []
    for row in try session.query(
      """
      SELECT id FROM migration_ids FORCE INDEX (by_state)
      WHERE job = \(job) AND state = 0 AND app = \(app.number) AND environment = \(place.environment?.code ?? 0)
      ORDER BY priority, id LIMIT \(limit)
      """)
    {
      ids.append(try row.text("id"))
    }
    var environments: [String: Set<Environment>] = [:]
    if place.environment == nil {
      for ids in ids.parts() {
        environments.merge(try LedgerStore.environments(of: Set(ids), app: app, in: session)) { first, _ in first }
      }
    }
    func asked(_ id: String) -> Set<Environment> {
      place.environment.map { [$0] } ?? environments[id] ?? [.production]
    }
    var calls = 0
    if let most {
      let customers = try PendingCustomerCount(
        Dictionary(ids.map { ($0, asked($0)) }) { first, _ in first }, app: app, in: session)
      (ids, calls) = customers.first(most, of: ids)
    }
    let seeds = ids.flatMap { id in
      asked(id).sorted().map { environment in
        (app: app, seed: TransactionReference(app: "", environment: environment, transactionID: id), arrivedAt: now)
      }
    }
    try HistoryJobTable.enqueue(seeds, in: session)
    try set(.asked, ids, in: place, session)
    return (ids.count, calls)
  }

  private func set(
    _ state: MigrationIDTable.State, _ ids: [String], in place: MigrationAccountTable.CountScope,
    _ session: borrowing Session
  ) throws(DatabaseError) {
    for ids in ids.sorted().parts() {
      _ = try session.execute(
        """
        UPDATE migration_ids FORCE INDEX (PRIMARY) SET state = \(state.rawValue)
        WHERE job = \(job) AND app = \(place.numbers.app) AND environment = \(place.numbers.environment)
        AND id IN (\(list: ids))
        """)
    }
  }

  private func note(in session: borrowing Session) throws(DatabaseError) -> Int {
    // An ID without an environment was looked up in those that know it, or in Production. Separate queries: with both
    // in one condition the server reads all work of the app for each ID.
    var answers: [MigrationAccountTable.CountScope: [String: HistoryJobTable.State]] = [:]
    for row in try session.query(
      """
      SELECT m.app, m.environment, m.id, w.state
      FROM migration_ids m FORCE INDEX (by_state)
      STRAIGHT_JOIN (SELECT 1 AS environment UNION ALL SELECT 2) asked
      STRAIGHT_JOIN work w FORCE INDEX (app)
        ON w.app = m.app AND w.environment = asked.environment AND w.kind = \(HistoryJobTable.Kind.history.rawValue)
        AND w.subject = m.id
      WHERE m.job = \(job) AND m.state = \(MigrationIDTable.State.asked.rawValue)
        AND (m.environment = 0 OR m.environment = asked.environment)
        AND (m.environment = 0 OR w.state <> \(HistoryJobTable.State.waiting.rawValue))
      """)
    {
      let (place, id) = (try Self.place(row), try row.text("id"))
      let state = HistoryJobTable.State(rawValue: try row.int("state")) ?? .failed
      // With two environments, the ID is open if one is, otherwise found if one is, otherwise unknown if one is.
      let before = answers[place]?[id] ?? state
      answers[place, default: [:]][id] = before.rawValue < state.rawValue ? before : state
    }
    var ended: [MigrationAccountTable.CountScope: [MigrationIDTable.State: [String]]] = [:]
    for (place, answers) in answers {
      for (id, state) in answers {
        guard let state = MigrationIDTable.State(after: state) else { continue }
        ended[place, default: [:]][state, default: []].append(id)
      }
    }
    var counts: [MigrationAccountTable.CountScope: [MigrationOutcome: Int]] = [:]
    for (place, states) in ended.sorted(by: { $0.key.isBefore($1.key) }) {
      for (state, ids) in states.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        try set(state, ids, in: place, session)
        if let outcome = state.outcome { counts[place, default: [:]][outcome] = ids.count }
      }
    }
    try MigrationAccountTable.add(counts, job: job, part: 0, in: session)
    return ended.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
  }

  private func isDone(in session: borrowing Session) throws(DatabaseError) -> Bool {
    if try MigrationPartTable.hasOpen(job, in: session) { return false }
    return try session.query(
      "SELECT 1 FROM migration_ids FORCE INDEX (by_state) WHERE job = \(job) AND state IN (0, 1) LIMIT 1"
    ).isEmpty
  }

  private static func place(_ row: Row) throws(DatabaseError) -> MigrationAccountTable.CountScope {
    let environment = try row.int("environment")
    return MigrationAccountTable.CountScope(
      app: App.ID(try row.int("app")), environment: environment == 0 ? nil : try Environment(code: environment))
  }
}
