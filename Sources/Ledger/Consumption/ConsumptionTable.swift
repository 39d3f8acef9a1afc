package import Database
package import JSON
import Purchases
import Signing
package import Time

/// `consumption_requests`: what Apple asked about consumption, and what it was told.
package enum ConsumptionTable {
  private static let insert = RowsInsert(
    into: """
      INSERT INTO consumption_requests (app, environment, id, transaction_id, original_transaction_id, customer_reason,
        asked_at, deadline, message, state, due_at, reason, settled_at) VALUES
      """,
    then: "ON DUPLICATE KEY UPDATE id = VALUES(id)")

  /// An event that a new message told of.
  struct News {
    let app: App.ID
    let event: Event
    let receivedAt: Milliseconds

    /// What tells one request from another: of V1 the message, for two requests may say the same.
    fileprivate var id: String { isLegacy ? Digest(bytes: event.message)?.hex ?? event.id : event.id }
    fileprivate var transaction: String? {
      event.transactionID ?? (isLegacy ? nil : event.originalTransactionID)
    }
    /// A V1 body that does not name the purchase means no original either, however its event is filed.
    fileprivate var original: String? { transaction.map { event.originalTransactionID ?? $0 } }
    fileprivate var askedAt: Milliseconds { isLegacy ? receivedAt : event.date }
    private var isLegacy: Bool { event.source == .notificationV1 }
  }

  /// Opens a case for each CONSUMPTION_REQUEST among new events; one that is there stays as it is.
  ///
  /// What comes after its time, as from Apple's history, is nothing that anybody could still have done: it is expired.
  static func open(_ events: [News], in session: borrowing Session) throws(DatabaseError) {
    let rows: [[SQLValue]] = events.compactMap { news in
      let event = news.event
      guard event.notificationType == "CONSUMPTION_REQUEST" else { return nil }
      let deadline = news.askedAt + ConsumptionCase.term
      let isLate = deadline <= news.receivedAt
      let state = isLate ? ConsumptionCase.State.expired : .waiting
      let reason = isLate ? "heard of after its 12 hours" : nil
      return [
        .integer(Int64(news.app.number)), .integer(Int64(event.environment.code)), .text(news.id),
        news.transaction.sqlValue, news.original.sqlValue,
        (event.details["consumptionRequestReason"]?.string?.cut(to: 64)).sqlValue,
        .integer(news.askedAt.sinceEpoch), .integer(deadline.sinceEpoch), .bytes(event.message),
        .integer(Int64(state.rawValue)), .integer(news.askedAt.sinceEpoch), reason.sqlValue,
        (isLate ? news.receivedAt.sinceEpoch : nil).sqlValue,
      ]
    }
    guard !rows.isEmpty else { return }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 3))
  }

  private static let columns: SQL = """
    app, environment, id, transaction_id, original_transaction_id, customer_reason, asked_at, deadline, message, state,
    attempts, answer, reason, settled_at
    """

  private static func read(_ rows: [Row]) throws(DatabaseError) -> [ConsumptionCase] {
    var found: [ConsumptionCase] = []
    for row in rows {
      guard let message = Digest(bytes: try row.bytes("message")),
        let state = ConsumptionCase.State(rawValue: try row.int("state"))
      else { throw DatabaseError(.column, "a consumption request this build cannot read") }
      found.append(
        ConsumptionCase(
          scope: Ledger.Scope(
            app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment"))),
          id: try row.text("id"), transactionID: try row.optionalText("transaction_id"),
          originalTransactionID: try row.optionalText("original_transaction_id"),
          customerReason: try row.optionalText("customer_reason"), askedAt: try row.milliseconds("asked_at"),
          deadline: try row.milliseconds("deadline"), message: message, state: state,
          attempts: try row.int("attempts"),
          answer: try row.optionalBytes("answer").flatMap { try? JSONReader.read($0).object },
          reason: try row.optionalText("reason"), settledAt: try row.optionalMilliseconds("settled_at")))
    }
    return found
  }

  /// The newest cases, of one app or state when asked.
  package static func newest(
    of app: App.ID? = nil, state: ConsumptionCase.State? = nil, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [ConsumptionCase] {
    var query: SQL = "SELECT \(columns) FROM consumption_requests WHERE 1 = 1"
    if let app { query += " AND app = \(app.number)" }
    if let state { query += " AND state = \(state.rawValue)" }
    return try read(session.query(query + " ORDER BY asked_at DESC, id LIMIT \(limit)"))
  }

  /// The cases of a notification's UUID or of a transaction, the newest first.
  package static func find(_ id: String, in session: borrowing Session) throws(DatabaseError) -> [ConsumptionCase] {
    try read(
      session.query(
        """
        SELECT \(columns) FROM consumption_requests WHERE id = \(id) OR transaction_id = \(id)
        ORDER BY asked_at DESC LIMIT 10
        """))
  }

  /// How many cases wait to be worked on.
  package static func waiting(in session: borrowing Session) throws(DatabaseError) -> Int {
    try session.query("SELECT COUNT(*) AS cases FROM consumption_requests WHERE state = 0").first?.int("cases") ?? 0
  }

  /// How many cases stand how, of those that Apple asked about since then.
  package static func counts(
    since: Milliseconds = Milliseconds(0), in session: borrowing Session
  ) throws(DatabaseError) -> [ConsumptionCase.State: Int] {
    var counts: [ConsumptionCase.State: Int] = [:]
    for row in try session.query(
      "SELECT state, COUNT(*) AS cases FROM consumption_requests WHERE asked_at >= \(since) GROUP BY state")
    {
      if let state = ConsumptionCase.State(rawValue: try row.int("state")) { counts[state] = try row.int("cases") }
    }
    return counts
  }

  /// Leases up to `limit` cases that are due; to be committed before anything is done about them.
  package static func lease(
    limit: Int, until end: Milliseconds, owner: [UInt8], at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> [LeasedConsumption] {
    let leased = try session.execute(
      """
      UPDATE consumption_requests SET owner = \(owner), due_at = \(end), attempts = attempts + 1
      WHERE state = 0 AND due_at <= \(now) ORDER BY due_at LIMIT \(limit)
      """)
    guard leased.affectedRows > 0 else { return [] }
    return try read(
      session.query(
        "SELECT \(columns) FROM consumption_requests WHERE state = 0 AND due_at = \(end) AND owner = \(owner)")
    ).map { LeasedConsumption(request: $0, owner: owner) }
  }

  /// Leases one case for an operator: a waiting one, or one that was declined or refused and is still in time.
  package static func lease(
    _ request: ConsumptionCase, until end: Milliseconds, owner: [UInt8], at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) -> LeasedConsumption? {
    let leased = try session.execute(
      """
      UPDATE consumption_requests SET state = 0, owner = \(owner), due_at = \(end), attempts = attempts + 1,
        settled_at = NULL
      WHERE app = \(request.scope.app.number) AND environment = \(request.scope.environment.code)
        AND id = \(request.id) AND state IN (0, 2, 4) AND deadline > \(now) AND (owner IS NULL OR due_at <= \(now))
      """)
    guard leased.affectedRows == 1 else { return nil }
    return LeasedConsumption(request: request, owner: owner)
  }

  /// Keeps what Apple is about to be told, so that it is told the same after a crash.
  package static func keep(
    _ answer: JSONObject, for leased: LeasedConsumption, in session: borrowing Session
  ) throws(DatabaseError) {
    let request = leased.request
    _ = try session.execute(
      """
      UPDATE consumption_requests SET answer = \(answer.encoded())
      WHERE app = \(request.scope.app.number) AND environment = \(request.scope.environment.code)
        AND id = \(request.id) AND owner = \(leased.owner)
      """)
  }

  /// Ends a case; of a lease that was lost only that Apple took the answer is noted.
  package static func settle(
    _ leased: LeasedConsumption, as state: ConsumptionCase.State, because reason: String?, at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let request = leased.request
    var update: SQL = """
      UPDATE consumption_requests SET state = \(state.rawValue), reason = \(reason?.cut(to: 255)),
        settled_at = \(now), owner = NULL
      WHERE app = \(request.scope.app.number) AND environment = \(request.scope.environment.code)
        AND id = \(request.id)
      """
    if state != .answered { update += " AND owner = \(leased.owner)" }
    _ = try session.execute(update)
  }

  /// Notes that Apple took an answer about a transaction that a command gave, beside the cases; how many it settles.
  ///
  /// A case that a process works on is settled as well: Apple has an answer, whatever that process still tells.
  package static func noteAnswered(
    _ answer: JSONObject, about transactionID: String, in scope: Ledger.Scope, because reason: String,
    at now: Milliseconds, _ session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let settled = try session.execute(
      """
      UPDATE consumption_requests SET state = \(ConsumptionCase.State.answered.rawValue), answer = \(answer.encoded()),
        reason = \(reason.cut(to: 255)), settled_at = \(now), owner = NULL
      WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND transaction_id = \(transactionID) AND state IN (0, 2, 4) AND deadline > \(now)
      """)
    return Int(settled.affectedRows)
  }

  /// Gives a case back, to be tried again at `due`.
  package static func postpone(
    _ leased: LeasedConsumption, until due: Milliseconds, because reason: String, in session: borrowing Session
  ) throws(DatabaseError) {
    let request = leased.request
    _ = try session.execute(
      """
      UPDATE consumption_requests SET due_at = \(due), reason = \(reason.cut(to: 255)), owner = NULL
      WHERE app = \(request.scope.app.number) AND environment = \(request.scope.environment.code)
        AND id = \(request.id) AND owner = \(leased.owner)
      """)
  }

  /// Forgets cases that Apple asked about before `instant` and that are settled, at most `limit` of them; how many.
  package static func purge(
    askedBefore instant: Milliseconds, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    Int(
      try session.execute(
        """
        DELETE FROM consumption_requests WHERE state <> 0 AND asked_at < \(instant) ORDER BY asked_at LIMIT \(limit)
        """
      ).affectedRows)
  }
}
