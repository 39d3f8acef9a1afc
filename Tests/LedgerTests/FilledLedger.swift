import Database
import Support

/// A ledger of thousands of rows in a database of its own, which can be left and opened again.
protocol FilledLedger {
  /// A table of as many rows as the size, or more.
  static var largest: String { get }

  var pool: Pool { get }

  /// Opens an empty ledger in a database that is empty.
  init(_ database: DatabaseConfiguration) async throws
  /// Opens the ledger that is in a database already.
  init(again database: DatabaseConfiguration) async throws

  /// Fills it, when it is empty.
  func grow(to size: Int) async throws
}

extension FilledLedger {
  /// Has the server count what the tables hold, and plan by that however often it opens them again.
  func count() async throws {
    try await inEachTable { table, session throws(DatabaseError) in
      _ = try session.execute("ANALYZE TABLE \(identifier: table)")
    }
  }

  /// Has the server count what the tables hold now, and never again.
  func countForTheLastTime() async throws {
    try await inEachTable { table, session throws(DatabaseError) in
      _ = try session.execute("ANALYZE TABLE \(identifier: table)")
      _ = try session.execute("ALTER TABLE \(identifier: table) STATS_AUTO_RECALC = 0")
    }
  }

  /// Has the server close the tables; MySQL reads their stored statistics when it opens them again.
  func openAgain() async throws {
    try await inEachTable { table, session throws(DatabaseError) in
      try session.run("FLUSH TABLES \(identifier: table)")
    }
  }

  private func inEachTable(
    _ body: @escaping @Sendable (String, borrowing Session) throws(DatabaseError) -> Void
  ) async throws {
    try await pool.read { session throws(DatabaseError) in
      let tables = try session.query(
        """
        SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = DATABASE() AND engine = 'InnoDB' AND table_name <> 'numbers'
        """
      ).map { row throws(DatabaseError) in try row.text("name") }
      for table in tables { try body(table, session) }
    }
  }
}
