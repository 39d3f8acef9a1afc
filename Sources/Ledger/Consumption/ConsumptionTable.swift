package import Database
package import JSON
import Purchases
import Signing
package import Time

/// `consumption_requests`: Apple's consumption requests and the responses.
///
/// Only signed requests wait for the app's policy. Operators decide about V1 requests, which strangers can create.
/// These are never leased, so they block no other case.
package enum ConsumptionTable {
  /// The maximum number of an app's open cases that only V1 bodies opened.
  ///
  /// Later bodies open no case and stay as events.
  package static let mostClaimed = 1_000

  private static let insert = BulkInsert(
    into: """
      INSERT INTO consumption_requests (app, environment, id, transaction_id, original_transaction_id, customer_reason,
        asked_at, deadline, message, state, due_at, reason, settled_at) VALUES
      """,
    then: "ON DUPLICATE KEY UPDATE id = VALUES(id)")

  // A case whose 12 hours are over is opened again. Each assignment compares `deadline`, which is assigned last.
  private static let insertClaimed = BulkInsert(
    into: """
      INSERT INTO consumption_requests (app, environment, id, transaction_id, original_transaction_id, customer_reason,
        asked_at, deadline, message, state, due_at, reason, settled_at) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        customer_reason = IF(deadline <= VALUES(asked_at), VALUES(customer_reason), customer_reason),
        message = IF(deadline <= VALUES(asked_at), VALUES(message), message),
        state = IF(deadline <= VALUES(asked_at), VALUES(state), state),
        attempts = IF(deadline <= VALUES(asked_at), 0, attempts),
        due_at = IF(deadline <= VALUES(asked_at), VALUES(due_at), due_at),
        owner = IF(deadline <= VALUES(asked_at), NULL, owner),
        answer = IF(deadline <= VALUES(asked_at), NULL, answer),
        reason = IF(deadline <= VALUES(asked_at), VALUES(reason), reason),
        settled_at = IF(deadline <= VALUES(asked_at), VALUES(settled_at), settled_at),
        asked_at = IF(deadline <= VALUES(asked_at), VALUES(asked_at), asked_at),
        deadline = IF(deadline <= VALUES(asked_at), VALUES(deadline), deadline)
      """)

  struct News {
    let app: App.ID
    let event: Event
    let receivedAt: Timestamp
    /// Whether Apple's networks or a sender that the operator trusts submitted the message.
    let isTrusted: Bool

    /// The identity of the request: the transaction with V1, otherwise the message.
    fileprivate var id: String {
      guard !isSigned else { return event.id }
      return transaction.map(ConsumptionRequestRecord.id(ofClaimAbout:)) ?? Digest(bytes: event.message)?.hex
        ?? event.id
    }
    fileprivate var transaction: String? {
      event.transactionID ?? (isSigned ? event.originalTransactionID : nil)
    }
    /// A V1 body without a purchase has no original either, regardless of its event's key.
    fileprivate var original: String? { transaction.map { event.originalTransactionID ?? $0 } }
    fileprivate var askedAt: Timestamp { isSigned ? event.date : receivedAt }
    fileprivate var isSigned: Bool { event.source == .signedV2 }

    fileprivate func row(
      _ state: ConsumptionRequestRecord.State, _ reason: String?, settledAt: Timestamp? = nil
    ) -> [SQLValue] {
      [
        .integer(Int64(app.number)), .integer(Int64(event.environment.code)), .text(id), transaction.sqlValue,
        original.sqlValue, (event.details["consumptionRequestReason"]?.string?.cut(to: 64)).sqlValue,
        .integer(askedAt.sinceEpoch), .integer((askedAt + ConsumptionRequestRecord.term).sinceEpoch),
        .bytes(event.message),
        .integer(Int64(state.rawValue)), .integer(askedAt.sinceEpoch), reason.sqlValue,
        (settledAt?.sinceEpoch).sqlValue,
      ]
    }
  }

  /// Opens a case for each CONSUMPTION_REQUEST among new events.
  ///
  /// An existing case is unchanged.
  static func open(_ events: [News], in session: borrowing Session) throws(DatabaseError) {
    let requests = events.filter { $0.event.notificationType == "CONSUMPTION_REQUEST" }
    guard !requests.isEmpty else { return }
    let signed = requests.filter(\.isSigned).map { news in
      // A request that comes after its deadline, for example from Apple's history, could not be answered.
      news.askedAt + ConsumptionRequestRecord.term <= news.receivedAt
        ? news.row(.expired, "received after its 12 hours", settledAt: news.receivedAt) : news.row(.waiting, nil)
    }
    if !signed.isEmpty { _ = try session.insert(insert, rows: signed.inKeyOrder(columns: 3)) }
    try openClaims(requests.filter { !$0.isSigned }, in: session)
  }

  /// Opens cases for operators, one for each transaction, unless the app's policy is to ignore them.
  private static func openClaims(_ requests: [News], in session: borrowing Session) throws(DatabaseError) {
    for (app, requests) in Dictionary(grouping: requests, by: \.app).sorted(by: { $0.key < $1.key }) {
      guard let now = requests.map(\.receivedAt).max(),
        try ConsumptionPolicyTable.policy(of: app, in: session) != .ignore
      else { continue }
      let open = try session.query(
        """
        SELECT COUNT(*) AS cases FROM (SELECT 1 FROM consumption_requests
          WHERE state IN (\(list: [ConsumptionRequestRecord.State.unnamed, .claimed].map(\.rawValue)))
          AND due_at > \(now - ConsumptionRequestRecord.term)
          AND app = \(app.number) LIMIT \(mostClaimed)) AS open
        """
      ).first?.int("cases")
      // Strangers' requests must not displace Apple's.
      let (trusted, others) = (requests.filter(\.isTrusted), requests.filter { !$0.isTrusted })
      let rows = (trusted + others.prefix(max(0, mostClaimed - (open ?? 0)))).map { news in
        news.transaction == nil
          ? news.row(.unnamed, unnamedReason, settledAt: news.receivedAt) : news.row(.claimed, claimedReason)
      }
      if !rows.isEmpty { _ = try session.insert(insertClaimed, rows: rows.inKeyOrder(columns: 3)) }
    }
  }

  package static let unnamedReason =
    "its body does not name its purchase; once you know it, answer Apple with `switchyard api consumption`"
  package static let claimedReason =
    "only a V1 body asks, which any holder of the shared secret can make; if it is genuine: `switchyard consumption answer`"

  private static let columns: SQL = """
    app, environment, id, transaction_id, original_transaction_id, customer_reason, asked_at, deadline, message, state,
    attempts, answer, reason, settled_at
    """

  private static func read(_ rows: [Row]) throws(DatabaseError) -> [ConsumptionRequestRecord] {
    var found: [ConsumptionRequestRecord] = []
    for row in rows {
      guard let message = Digest(bytes: try row.bytes("message")),
        let state = ConsumptionRequestRecord.State(rawValue: try row.int("state"))
      else { throw DatabaseError(.column, "a consumption request this build cannot read") }
      found.append(
        ConsumptionRequestRecord(
          scope: AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment"))),
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

  package static func newest(
    of app: App.ID? = nil, state: ConsumptionRequestRecord.State? = nil, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [ConsumptionRequestRecord] {
    var query: SQL = "SELECT \(columns) FROM consumption_requests WHERE 1 = 1"
    if let app { query += " AND app = \(app.number)" }
    if let state { query += " AND state = \(state.rawValue)" }
    return try read(session.query(query + " ORDER BY asked_at DESC, id LIMIT \(limit)"))
  }

  /// Returns the cases of a notification's UUID or of a transaction, newest first.
  package static func find(_ id: String, in session: borrowing Session) throws(DatabaseError)
    -> [ConsumptionRequestRecord]
  {
    try read(
      session.query(
        """
        SELECT \(columns) FROM consumption_requests WHERE id = \(id) OR transaction_id = \(id)
        ORDER BY asked_at DESC LIMIT 10
        """))
  }

  package static func waiting(in session: borrowing Session) throws(DatabaseError) -> Int {
    try session.query("SELECT COUNT(*) AS cases FROM consumption_requests WHERE state = 0").first?.int("cases") ?? 0
  }

  /// Returns the number of cases by state, of those requested since `since`.
  package static func counts(
    since: Timestamp = Timestamp(0), in session: borrowing Session
  ) throws(DatabaseError) -> [ConsumptionRequestRecord.State: Int] {
    var counts: [ConsumptionRequestRecord.State: Int] = [:]
    for row in try session.query(
      """
      SELECT state, COUNT(*) AS cases FROM consumption_requests WHERE asked_at >= \(since) GROUP BY state
      """)
    {
      let state = ConsumptionRequestRecord.State(rawValue: try row.int("state"))
      if let state { counts[state, default: 0] += try row.int("cases") }
    }
    return counts
  }

  /// Leases up to `limit` due cases.
  ///
  /// Commit before any action on them.
  package static func lease(
    limit: Int, until end: Timestamp, owner: [UInt8], at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> [LeasedConsumption] {
    let leased = try session.execute(
      """
      UPDATE consumption_requests FORCE INDEX (state)
      SET owner = \(owner), due_at = \(end), attempts = attempts + 1
      WHERE state = 0 AND due_at <= \(now) ORDER BY due_at LIMIT \(limit)
      """)
    guard leased.affectedRows > 0 else { return [] }
    return try read(
      session.query(
        """
        SELECT \(columns) FROM consumption_requests FORCE INDEX (state)
        WHERE state = 0 AND due_at = \(end) AND owner = \(owner)
        """)
    ).map { LeasedConsumption(request: $0, owner: owner) }
  }

  /// Leases one case for an operator: a waiting one, or a declined, refused, unnamed or claimed one before its
  /// deadline.
  ///
  /// A claimed case keeps its state until its response is stored, so that no process answers it by policy.
  package static func lease(
    _ request: ConsumptionRequestRecord, until end: Timestamp, owner: [UInt8], at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> LeasedConsumption? {
    let leased = try session.execute(
      """
      UPDATE consumption_requests SET state = IF(state = \(ConsumptionRequestRecord.State.claimed.rawValue), state, 0),
        owner = \(owner), due_at = \(end), attempts = attempts + 1, settled_at = NULL
      WHERE \(in: request.scope) AND id = \(request.id) AND state IN (0, 2, 4, 6) AND transaction_id IS NOT NULL
        AND deadline > \(now) AND (owner IS NULL OR due_at <= \(now))
      """)
    guard leased.affectedRows == 1 else { return nil }
    return LeasedConsumption(request: request, owner: owner)
  }

  /// Stores the response before it is sent, so that any process sends the same one after a crash.
  package static func keep(
    _ answer: JSONObject, for leased: LeasedConsumption, in session: borrowing Session
  ) throws(DatabaseError) {
    let request = leased.request
    _ = try session.execute(
      """
      UPDATE consumption_requests SET answer = \(answer.encoded()), state = 0
        WHERE \(in: request.scope) AND id = \(request.id) AND owner = \(leased.owner)
      """)
  }

  /// Ends a case.
  ///
  /// If the lease was lost, it only records that Apple accepted the response.
  package static func settle(
    _ leased: LeasedConsumption, as state: ConsumptionRequestRecord.State, because reason: String?, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let request = leased.request
    var update: SQL = """
      UPDATE consumption_requests SET state = \(state.rawValue), reason = \(reason?.cut(to: 255)),
        settled_at = \(now), owner = NULL WHERE \(in: request.scope) AND id = \(request.id)
      """
    if state != .answered { update += " AND owner = \(leased.owner)" }
    _ = try session.execute(update)
  }

  /// Records that Apple accepted a response that a command sent outside the cases, and returns the number of settled
  /// cases.
  ///
  /// It also settles a case that a process works on, since Apple has a response.
  package static func noteAnswered(
    _ answer: JSONObject, about transactionID: String, in scope: AppScope, because reason: String,
    at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let settled = try session.execute(
      """
      UPDATE consumption_requests SET state = \(ConsumptionRequestRecord.State.answered.rawValue), answer = \(answer.encoded()),
        reason = \(reason.cut(to: 255)), settled_at = \(now), owner = NULL
        WHERE \(in: scope) AND transaction_id = \(transactionID) AND state IN (0, 2, 4, 6) AND deadline > \(now)
      """)
    return Int(settled.affectedRows)
  }

  /// Releases a case, to be retried at `due`.
  package static func postpone(
    _ leased: LeasedConsumption, until due: Timestamp, because reason: String, in session: borrowing Session
  ) throws(DatabaseError) {
    let request = leased.request
    _ = try session.execute(
      """
      UPDATE consumption_requests SET due_at = \(due), reason = \(reason.cut(to: 255)), owner = NULL
      WHERE \(in: request.scope) AND id = \(request.id) AND owner = \(leased.owner)
      """)
  }

  /// Deletes at most `limit` settled cases that were requested before `instant`, and returns their number.
  package static func purge(
    askedBefore instant: Timestamp, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    Int(
      try session.execute(
        """
        DELETE FROM consumption_requests WHERE state <> 0 AND asked_at < \(instant) ORDER BY asked_at LIMIT \(limit)
        """
      ).affectedRows)
  }
}
