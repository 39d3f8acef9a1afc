package import Database
import Purchases
package import Time

/// `comparisons` and `comparison_bodies`: our answers beside Apple's.
///
/// What is said of a comparison is written by whoever compares; here it is text.
package enum ComparisonTable {
  /// One customer's receipt in one window has one voice.
  package struct SampleKey: Hashable, Sendable {
    package let scope: AppScope
    /// When the window began.
    package let window: Timestamp
    /// 16 bytes each.
    package let customer: [UInt8]
    package let receipt: [UInt8]

    package init(scope: AppScope, window: Timestamp, customer: [UInt8], receipt: [UInt8]) {
      self.scope = scope
      self.window = window
      self.customer = Array(customer.prefix(16))
      self.receipt = Array(receipt.prefix(16))
    }
  }

  /// What came of a comparison.
  package struct Outcome: Hashable, Sendable {
    /// The cause of the gravest difference, `equal` for none.
    package var cause: String
    /// Whether its impact counts against the guard.
    package var counts: Bool
    /// JSON; empty for none.
    package var differences: [UInt8]
    /// JSON; nil for none.
    package var impact: [UInt8]?

    package init(cause: String, counts: Bool, differences: [UInt8], impact: [UInt8]?) {
      self.cause = cause
      self.counts = counts
      self.differences = differences
      self.impact = impact
    }
  }

  package static let equal = "equal"
  /// The cause of differences that come from a history that is not known yet, as `difference-causes` names it.
  package static let incomplete = "incomplete"

  package struct Row: Sendable {
    package let id: Int64
    package let scope: AppScope
    /// By which the customer is counted once, within the scope.
    package let customer: [UInt8]
    package let comparedAt: Timestamp
    package let judgement: Outcome
    /// Whether it was looked at again.
    package let isSettled: Bool
  }

  /// Notes a comparison, and returns its id; nil where the voice was heard in this window.
  package static func add(
    _ judgement: Outcome, of voice: SampleKey, epoch: Int64, at now: Timestamp, settlingAt: Timestamp?,
    in session: borrowing Session
  ) throws(DatabaseError) -> Int64? {
    let result = try session.execute(
      """
      INSERT IGNORE INTO comparisons (app, environment, window_start, customer, receipt, compared_at, epoch, cause,
        counts, differences, impact, state, settle_at)
      VALUES (\(voice.scope.app.number), \(voice.scope.environment.code), \(voice.window), \(voice.customer),
        \(voice.receipt), \(now), \(epoch), \(judgement.cause), \(judgement.counts), \(judgement.differences),
        \(judgement.impact.sqlValue), \(settlingAt == nil ? 1 : 0), \(settlingAt.sqlValue))
      """)
    guard result.affectedRows == 1 else { return nil }
    return try session.query("SELECT LAST_INSERT_ID() AS id").first?.int64("id")
  }

  /// Keeps both answers and what ours was made from.
  package static func keep(
    _ sealed: [UInt8], of id: Int64, until end: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO comparison_bodies (comparison, kept_until, sealed) VALUES (\(id), \(end), \(sealed))
      ON DUPLICATE KEY UPDATE kept_until = VALUES(kept_until), sealed = VALUES(sealed)
      """)
  }

  package static func body(of id: Int64, in session: borrowing Session) throws(DatabaseError) -> [UInt8]? {
    try session.query("SELECT sealed FROM comparison_bodies WHERE comparison = \(id)").first?.bytes("sealed")
  }

  /// The newest comparisons, newest first.
  ///
  /// - Parameters:
  ///   - cause: only those of which a field differs for this cause.
  ///   - affecting: only those by which a customer's access would have differed.
  ///   - kept: only those whose answers are kept.
  package static func list(
    of scope: AppScope?, differing: Bool, cause: String? = nil, affecting: Bool = false, kept: Bool = false, limit: Int,
    in session: borrowing Session
  ) throws(DatabaseError) -> [Row] {
    var statement: SQL = "\(columns) WHERE 1 = 1"
    if let scope {
      statement += " AND \(in: scope)"
    }
    if differing { statement += " AND cause <> \(equal)" }
    if let cause { statement += " AND LOCATE(\(Array("\"cause\":\"\(cause)\"".utf8)), differences) > 0" }
    if affecting { statement += " AND impact IS NOT NULL" }
    if kept { statement += " AND EXISTS (SELECT 1 FROM comparison_bodies WHERE comparison = comparisons.id)" }
    return try read(statement + " ORDER BY compared_at DESC, id DESC LIMIT \(limit)", in: session)
  }

  package static func find(_ id: Int64, in session: borrowing Session) throws(DatabaseError) -> Row? {
    try read("\(columns) WHERE id = \(id)", in: session).first
  }

  private static let columns: SQL = """
    SELECT id, app, environment, customer, compared_at, cause, counts, differences, impact, state FROM comparisons
    """

  private static func read(_ statement: SQL, in session: borrowing Session) throws(DatabaseError) -> [Row] {
    var rows: [Row] = []
    for row in try session.query(statement) {
      rows.append(
        Row(
          id: try row.int64("id"),
          scope: AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment"))),
          customer: try row.bytes("customer"), comparedAt: try row.milliseconds("compared_at"),
          judgement: Outcome(
            cause: try row.text("cause"), counts: try row.int("counts") == 1,
            differences: try row.bytes("differences"), impact: try row.optionalBytes("impact")),
          isSettled: try row.int("state") == 1))
    }
    return rows
  }

  // MARK: Looking again

  /// Takes comparisons that are to be looked at again; nobody else takes them before `until`.
  package static func lease(
    at now: Timestamp, until: Timestamp, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [Row] {
    var leased: [Row] = []
    for row in try read(
      """
      \(columns) FORCE INDEX (to_settle) WHERE settle_at <= \(now) AND state = 0 ORDER BY settle_at LIMIT \(limit)
      """, in: session)
    {
      let taken = try session.execute(
        "UPDATE comparisons SET settle_at = \(until) WHERE id = \(row.id) AND state = 0 AND settle_at <= \(now)")
      if taken.affectedRows == 1 { leased.append(row) }
    }
    return leased
  }

  /// Notes what came of looking again.
  package static func settle(
    _ id: Int64, _ judgement: Outcome, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE comparisons SET cause = \(judgement.cause), counts = \(judgement.counts),
        differences = \(judgement.differences), impact = \(judgement.impact.sqlValue), state = 1, settle_at = NULL
      WHERE id = \(id)
      """)
  }

  // MARK: Forgetting

  /// Forgets bodies whose time is over, and comparisons of before `instant`; how many rows.
  package static func purge(
    at now: Timestamp, before instant: Timestamp, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let bodies = try session.execute("DELETE FROM comparison_bodies WHERE kept_until <= \(now) LIMIT \(limit)")
    let rows = try session.execute("DELETE FROM comparisons WHERE compared_at < \(instant) LIMIT \(limit)")
    return Int(max(bodies.affectedRows, rows.affectedRows))
  }
}
