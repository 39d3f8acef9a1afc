/// The statistics of a ledger's tables by which the server plans statements.
enum BelievedStatistics: String, CaseIterable, Sendable {
  /// The server counted the rows that are there.
  case counted
  /// The server counted when every table was empty. Since then it only adds the rows that are inserted.
  case old
  /// The server restarted and has not counted again: every table is empty. MariaDB then reads whole tables for lists of IDs
  /// behind columns that are equal for all rows.
  case empty
  /// The worst statistics: a table is huge and has one page, and each index has one value. To read the whole table then
  /// always seems best.
  case wrong

  /// Those after a restart of the server, and the worst ones; all in `scripts/soak plans`.
  static let tested = TestSize.isSoak ? allCases : [.empty, .wrong]

  /// Prepares a ledger that has no rows.
  func prepare(_ pool: Pool) async throws {
    guard self != .counted else { return }
    try await Self.inEachTable(of: pool) { table, session throws(DatabaseError) in
      _ = try session.execute("ANALYZE TABLE \(identifier: table)")
      _ = try session.execute("ALTER TABLE \(identifier: table) STATS_AUTO_RECALC = 0")
    }
  }

  /// Makes the server believe these statistics of a ledger whose table `largest` has at least `size` rows.
  func take(hold pool: Pool, largest: String, size: Int) async throws {
    switch self {
    case .counted:
      try await Self.inEachTable(of: pool) { table, session throws(DatabaseError) in
        _ = try session.execute("ANALYZE TABLE \(identifier: table)")
      }
    case .old: break
    case .empty: try await Self.load(in: pool)
    case .wrong:
      try await pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          """
          UPDATE mysql.innodb_table_stats SET n_rows = 1000000000, clustered_index_size = 1, sum_of_other_index_sizes = 100
          WHERE database_name = DATABASE()
          """)
        _ = try session.execute(
          "UPDATE mysql.innodb_index_stats SET stat_value = 1 WHERE database_name = DATABASE()")
      }
      try await Self.load(in: pool)
    }
    try await expectBelief(pool, largest, size)
  }

  /// Makes the server load the statistics that are stored.
  ///
  /// MySQL does that when it opens a table again, MariaDB only when it restarts or renames a table.
  private static func load(in pool: Pool) async throws {
    try await inEachTable(of: pool) { table, session throws(DatabaseError) in
      guard session.serverVersion.contains("MariaDB") else {
        return try session.run("FLUSH TABLES \(identifier: table)")
      }
      let other = "renamed_" + table
      try session.run("RENAME TABLE \(identifier: table) TO \(identifier: other)")
      try session.run("RENAME TABLE \(identifier: other) TO \(identifier: table)")
    }
  }

  /// Makes the server close the tables of a ledger.
  static func closeTables(of pool: Pool) async throws {
    try await inEachTable(of: pool) { table, session throws(DatabaseError) in
      try session.run("FLUSH TABLES \(identifier: table)")
    }
  }

  private static func inEachTable(
    of pool: Pool, _ body: @escaping @Sendable (String, borrowing Session) throws(DatabaseError) -> Void
  ) async throws {
    try await pool.read { session throws(DatabaseError) in
      let tables = try session.query(
        """
        SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = DATABASE() AND engine = 'InnoDB'
        """
      ).map { row throws(DatabaseError) in try row.text("name") }
      for table in tables { try body(table, session) }
    }
  }

  /// Fails where the server believes something else, since the test would prove nothing.
  private func expectBelief(_ pool: Pool, _ largest: String, _ size: Int) async throws {
    let rows = try await pool.read { session throws(DatabaseError) in
      // MySQL shows numbers that are up to a day old. MariaDB has no such setting.
      if PrivateMariaDB.isGiven { try? session.run("SET SESSION information_schema_stats_expiry = 0") }
      return try session.query(
        """
        SELECT table_rows AS count FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = \(largest)
        """
      ).first?.int("count") ?? -1
    }
    switch self {
    case .counted, .old: #expect((size / 2..<10 * size).contains(rows))
    case .empty: #expect(rows <= 1)
    case .wrong: #expect(rows >= 900_000_000)
    }
  }
}
