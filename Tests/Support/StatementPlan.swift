package import Database

/// How the server means to run a statement that the code sent, by its EXPLAIN at the moment of the sending.
///
/// Captured, not copied: a statement that changes is explained as it is then. Inserts have no plan worth reading and are left
/// out, and so is what a statement cannot be explained for (SHOW, SET).
///
/// ```swift
/// let plans = try await StatementPlan.during(pool) { session throws(DatabaseError) in try SomeTable.lease(in: session) }
/// ```
package struct StatementPlan: Sendable {
  /// What is read of one table, in the order of the join.
  package struct Access: Sendable, Hashable {
    /// The table, by the name it has in the statement.
    package let table: String
    /// `const`, `eq_ref`, `ref` and `range` look up; `index` reads a whole index and `ALL` a whole table.
    package let type: String
    package let key: String
    /// How many rows the server expects to read each time, of which `filtered` per cent are left: estimates both.
    package let rows: String
    package let filtered: String

    /// Whether all of the table or of an index is read.
    package var isScan: Bool { type == "ALL" || type == "index" }
  }

  /// Its text on one line; a `?` for each argument.
  package let statement: String
  package let accesses: [Access]

  /// Returns the plans of what `body` sends, in a transaction of its own that is committed: of each text the first.
  package static func during(
    _ pool: Pool, _ body: @Sendable (Session) throws(DatabaseError) -> Void
  ) async throws(DatabaseError) -> [StatementPlan] {
    try await pool.transaction { session throws(DatabaseError) in
      var plans: [StatementPlan] = []
      var seen: Set<String> = []
      session.onStatement = { session, sql throws(DatabaseError) in
        guard ["SELECT", "(SELECT", "UPDATE", "DELETE"].contains(where: { sql.text.hasPrefix($0) }),
          seen.insert(sql.text).inserted
        else { return }
        plans.append(try plan(of: sql, in: session))
      }
      defer { session.onStatement = nil }
      try body(session)
      return plans
    }
  }

  private static func plan(of sql: SQL, in session: Session) throws(DatabaseError) -> StatementPlan {
    var accesses: [Access] = []
    for row in try explain(sql, in: session) {
      func text(_ column: Row.Column) throws(DatabaseError) -> String {
        switch try row.value(column) {
        case .null: ""
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .text(let value): value
        case .bytes(let value): String(decoding: value, as: UTF8.self)
        }
      }
      let access = Access(
        table: try text("table"), type: try text("type"), key: try text("key"), rows: try text("rows"),
        filtered: try text("filtered"))
      // Parts without a table: a UNION, a condition that is never true.
      if !access.type.isEmpty { accesses.append(access) }
    }
    return StatementPlan(
      statement: sql.text.split(whereSeparator: \.isWhitespace).joined(separator: " "), accesses: accesses)
  }

  private static func explain(_ sql: SQL, in session: Session) throws(DatabaseError) -> [Row] {
    if session.serverVersion.contains("MariaDB") { return try session.query("EXPLAIN EXTENDED " + sql) }
    // MySQL says of an EXPLAIN only when it runs that it has a result: too late for a prepared statement.
    _ = try session.execute("SET SESSION explain_json_format_version = 1")
    _ = try session.execute("EXPLAIN FORMAT=JSON INTO @plan " + sql)
    return try session.query(
      """
      SELECT p.* FROM JSON_TABLE(JSON_EXTRACT(@plan, '$**.table'), '$[*]' COLUMNS (
        `table` VARCHAR(64) PATH '$.table_name', type VARCHAR(64) PATH '$.access_type', `key` VARCHAR(64) PATH '$.key',
        `rows` VARCHAR(64) PATH '$.rows_examined_per_scan', filtered VARCHAR(64) PATH '$.filtered')) p
      """)
  }
}
