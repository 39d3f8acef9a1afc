package import Database
package import JSON
package import Time

/// `audit`: the changes of apps and stages.
///
/// Rows are only added.
package enum AuditTable {
  package struct Record: Sendable {
    package let id: Int64
    package let at: Timestamp
    package let actor: String
    package let action: String
    package let subject: String
    package let reason: String
  }

  /// Adds an entry.
  ///
  /// - Parameters:
  ///   - process: the service that announces the entry, as 16 random bytes.
  ///   - facts: the announced data.
  package static func note(
    _ action: StaticString, of subject: String, by actor: String, because reason: String, at now: Timestamp,
    from process: [UInt8]? = nil, announcing facts: JSONObject? = nil, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO audit (at, actor, action, subject, reason, process, facts)
      VALUES (\(now), \(actor), \(action.description), \(subject), \(reason), \(process), \(facts?.encoded()))
      """)
  }

  package static func facts(
    from process: [UInt8], in session: borrowing Session
  ) throws(DatabaseError) -> [Int64: JSONObject] {
    var facts: [Int64: JSONObject] = [:]
    for row in try session.query("SELECT id, facts FROM audit WHERE process = \(process)") {
      facts[try row.int64("id")] = try? JSONReader.read(row.bytes("facts")).object
    }
    return facts
  }

  /// Returns the newest entries about `subject`, newest first.
  ///
  /// - Parameters:
  ///   - actions: a prefix of their actions. `nil`: all.
  ///   - beginning: a prefix of their reasons. `nil`: all.
  package static func newest(
    of subject: String, actions: StaticString? = nil, beginning: String? = nil, limit: Int,
    in session: borrowing Session
  ) throws(DatabaseError) -> [Record] {
    var chosen: SQL = "\(columns) WHERE subject = \(subject)"
    if let actions { chosen += " AND action LIKE \(actions.description + "%")" }
    if let beginning { chosen += " AND LEFT(reason, \(beginning.count)) = \(beginning)" }
    return try read(chosen + " ORDER BY id DESC LIMIT \(limit)", in: session)
  }

  /// Returns the newest entry about `subject` with one of these actions, or `nil`.
  ///
  /// - Parameter beginning: a prefix of its reason.
  package static func last(
    of subject: String, among actions: [StaticString], beginning: String, in session: borrowing Session
  ) throws(DatabaseError) -> Record? {
    try read(
      """
      \(columns) WHERE subject = \(subject) AND action IN (\(list: actions.map(\.description)))
      AND LEFT(reason, \(beginning.count)) = \(beginning) ORDER BY id DESC LIMIT 1
      """, in: session
    ).first
  }

  private static let columns: SQL = "SELECT id, at, actor, action, subject, reason FROM audit"

  private static func read(_ statement: SQL, in session: borrowing Session) throws(DatabaseError) -> [Record] {
    var entries: [Record] = []
    for row in try session.query(statement) {
      entries.append(
        Record(
          id: try row.int64("id"), at: try row.milliseconds("at"), actor: try row.text("actor"),
          action: try row.text("action"),
          subject: try row.text("subject"), reason: try row.text("reason")))
    }
    return entries
  }
}
