import Database
import Support
import Testing
import Time

/// What a server believes of a ledger's tables, other than what they hold: by this it plans its statements.
enum BelievedStatistics: String, CaseIterable, Sendable {
  /// As when many customers came at once: counted while every table was empty, and never again. The server only adds up how
  /// many rows came since.
  case old
  /// As after a restart before the server has counted again: every table is empty. MariaDB then reads whole tables for lists
  /// of ids behind columns that are equal for all rows.
  case empty
  /// The worst that can be believed of an index: that a table is huge and lies on one page, and that each of its indexes has
  /// a single value. To read it whole then always seems best.
  case wrong

  /// Hands out a ledger of `size` customers while the server believes this.
  ///
  /// In a server of its own: where many tests open tables, it may forget at any time what it believed, and read again what
  /// is stored. The server of SWITCHYARD_TEST_DATABASE cannot be restarted; it is told to open the tables again, by which
  /// MySQL reads what is stored.
  ///
  /// - Parameter growing: what to add to the ledger before the server forgets how many rows it saw come.
  func during<Filled: FilledLedger>(
    _ size: Int, growing: (Filled) async throws -> Void = { _ in }, _ body: (Filled) async throws -> Void
  ) async throws {
    if PrivateMariaDB.isGiven {
      let grown = try await Filled(try await PrivateMariaDB.shared.database())
      try await prepare(grown, size, growing)
      if self != .old { try await grown.openAgain() }
      try await expectBelief(grown, size)
      try await body(grown)
      await grown.pool.close()
      return
    }
    let directory = TemporaryDirectory()
    func serving(_ body: (DatabaseConfiguration) async throws -> Void) async throws {
      var settings = EmbeddedServer.Settings()
      settings.bufferPool = 64 << 20
      settings.startLimit = .minutes(5)
      settings.options = PrivateMariaDB.options
      let server = EmbeddedServer(directory: directory.path, settings: settings)
      do {
        try await body(PrivateMariaDB.patient(try await server.start()))
      } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
    try await serving { database in
      let grown = try await Filled(database)
      try await prepare(grown, size, growing)
      if self == .old {
        try await expectBelief(grown, size)
        try await body(grown)
      }
      await grown.pool.close()
    }
    guard self != .old else { return }
    try await serving { database in
      let grown = try await Filled(again: database)
      try await expectBelief(grown, size)
      try await body(grown)
      await grown.pool.close()
    }
  }

  private func prepare<Filled: FilledLedger>(
    _ grown: Filled, _ size: Int, _ growing: (Filled) async throws -> Void
  ) async throws {
    try await grown.countForTheLastTime()
    try await grown.grow(to: size)
    try await growing(grown)
    guard self == .wrong else { return }
    try await grown.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(
        """
        UPDATE mysql.innodb_table_stats SET n_rows = 1000000000, clustered_index_size = 1, sum_of_other_index_sizes = 100
        WHERE database_name = DATABASE()
        """)
      _ = try session.execute(
        "UPDATE mysql.innodb_index_stats SET stat_value = 1 WHERE database_name = DATABASE()")
    }
  }

  /// Fails where the server does not believe it: the test would then prove nothing.
  private func expectBelief<Filled: FilledLedger>(_ grown: Filled, _ size: Int) async throws {
    let largest = Filled.largest
    let rows = try await grown.pool.read { session throws(DatabaseError) in
      // MySQL shows what it knew up to a day ago; MariaDB has no such setting, and shows what it knows now.
      if PrivateMariaDB.isGiven { try? session.run("SET SESSION information_schema_stats_expiry = 0") }
      return try session.query(
        """
        SELECT table_rows AS count FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = \(largest)
        """
      ).first?.int("count") ?? -1
    }
    switch self {
    case .old: #expect(rows >= size / 2)
    case .empty: #expect(rows <= 1)
    case .wrong: #expect(rows >= 900_000_000)
    }
  }
}
