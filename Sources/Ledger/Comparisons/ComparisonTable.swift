package import Database
import Purchases
package import Time

/// `comparisons` and `comparison_bodies`: Switchyard's responses compared with Apple's.
///
/// The comparing module defines the text in these tables.
package enum ComparisonTable {
  /// The key of a sample: one customer's receipt counts once in a window.
  package struct SampleKey: Hashable, Sendable {
    package let scope: AppScope
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

  package struct Outcome: Hashable, Sendable {
    /// The cause of the most severe difference, or `equal`.
    package var cause: String
    /// Whether its impact counts for the guard.
    package var counts: Bool
    /// JSON.
    ///
    /// Empty without differences.
    package var differences: [UInt8]
    /// JSON.
    ///
    /// `nil` without an impact.
    package var impact: [UInt8]?

    package init(cause: String, counts: Bool, differences: [UInt8], impact: [UInt8]?) {
      self.cause = cause
      self.counts = counts
      self.differences = differences
      self.impact = impact
    }
  }

  package static let equal = "equal"
  /// The cause of differences from a history that is unknown yet, as in `difference-causes`.
  package static let incomplete = "incomplete"

  package struct Row: Sendable {
    package let id: Int64
    package let scope: AppScope
    /// The identity that counts the customer once within the scope.
    package let customer: [UInt8]
    package let comparedAt: Timestamp
    package let judgement: Outcome
    /// Whether it was reviewed again.
    package let isSettled: Bool
  }

  /// Stores a comparison and returns its ID, or `nil` if the sample was compared in this window.
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

  /// Stores both responses and the input of Switchyard's response.
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

  /// Returns the newest comparisons, newest first.
  ///
  /// - Parameters:
  ///   - cause: only with a field that differs for this cause.
  ///   - affecting: only with an effect on access.
  ///   - kept: only with stored responses.
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

  /// Leases comparisons to review until `until`.
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

  /// Deletes expired bodies and comparisons before `instant`, and returns the number of rows.
  package static func purge(
    at now: Timestamp, before instant: Timestamp, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let bodies = try session.execute("DELETE FROM comparison_bodies WHERE kept_until <= \(now) LIMIT \(limit)")
    let rows = try session.execute("DELETE FROM comparisons WHERE compared_at < \(instant) LIMIT \(limit)")
    return Int(max(bodies.affectedRows, rows.affectedRows))
  }
}
