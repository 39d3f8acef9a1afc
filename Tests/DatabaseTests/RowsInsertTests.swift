@testable import Database

@Suite struct `Rows written at once` {
  private static let insert = BulkInsert(
    into: "INSERT INTO t (id, n, body) VALUES", then: "ON DUPLICATE KEY UPDATE n = VALUES(n), body = VALUES(body)")

  private static func row(_ id: Int, size: Int) -> [SQLValue] {
    [.text("id-\(id)"), .integer(Int64(id)), .bytes([UInt8](repeating: UInt8(id % 256), count: size))]
  }

  private static func prepared(_ change: (inout DatabaseConfiguration) -> Void) async throws -> Connection {
    var configuration = try await PrivateMariaDB.shared.database()
    change(&configuration)
    let connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE t (id VARBINARY(64) PRIMARY KEY, n BIGINT NOT NULL, body LONGBLOB)")
    }
    return connection
  }

  @Test(
    arguments: [
      (rows: 8, limit: 16 << 20, statements: 1), (15, 16 << 20, 2), (31, 16 << 20, 3), (63, 16 << 20, 4),
      (200, 16 << 20, 7),
      // Nine would fit.
      (200, 10_000, 25), (31, 10_000, 4),
    ])
  func `go in by 32, by 16 and the rest by up to 8, and by no more than the limit takes`(
    rows count: Int, limit: Int, statements: Int
  ) async throws {
    let connection = try await Self.prepared { $0.insertLimit = limit }
    try await connection.read { session throws(DatabaseError) in
      let before = try Self.inserts(session)
      let rows = (0..<count).map { Self.row($0, size: 1_000) }
      #expect(try session.insert(Self.insert, rows: rows) == UInt64(count))
      #expect(try Self.inserts(session) - before == statements)
      #expect(try session.insert(Self.insert, rows: rows) == 0)
      #expect(try session.insert(Self.insert, rows: [[.text("id-7"), .integer(-7), .null]]) == 2)
      let row = try session.query("SELECT COUNT(*) AS c, SUM(n) AS s, SUM(LENGTH(body)) AS l FROM t")[0]
      #expect(try row.int("c") == count)
      #expect(try row.int("s") == (count - 1) * count / 2 - 14)
      #expect(try row.int("l") == (count - 1) * 1_000)
    }
    await connection.close()
  }

  private static let repeating = BulkInsert(
    into: "INSERT INTO t (id, n, body) VALUES", then: "ON DUPLICATE KEY UPDATE n = VALUES(n), body = VALUES(body)",
    repeatsLast: true)

  private typealias Case = (rows: Int, limit: Int, statements: Int)

  /// Of the last two: nine would fit, and the last row no second time where it fills the packet.
  private static let cases: [Case] = [
    (1, 16 << 20, 1), (2, 16 << 20, 1), (5, 16 << 20, 1), (9, 16 << 20, 1), (17, 16 << 20, 1), (25, 16 << 20, 1),
    (31, 16 << 20, 1), (32, 16 << 20, 1), (33, 16 << 20, 2), (57, 16 << 20, 2), (95, 16 << 20, 3), (9, 10_000, 2),
    (200, 10_000, 25),
  ]

  @Test(arguments: cases)
  func `give the last row again where that saves round trips, and count as if it came once`(
    rows count: Int, limit: Int, statements: Int
  ) async throws {
    let connection = try await Self.prepared { $0.insertLimit = limit }
    try await connection.read { session throws(DatabaseError) in
      let before = try Self.inserts(session)
      let rows = (0..<count).map { Self.row($0, size: 1_000) }
      #expect(try session.insert(Self.repeating, rows: rows) == UInt64(count))
      #expect(try Self.inserts(session) - before == statements)
      #expect(try session.insert(Self.repeating, rows: rows) == 0)
      let changed = rows.map { row -> [SQLValue] in [row[0], .integer(-1), row[2]] }
      #expect(try session.insert(Self.repeating, rows: changed) == UInt64(2 * count))
      let row = try session.query("SELECT COUNT(*) AS c, SUM(n) AS s FROM t")[0]
      #expect(try row.int("c") == count)
      #expect(try row.int("s") == -count)
    }
    await connection.close()
  }

  private static func inserts(_ session: Session) throws(DatabaseError) -> Int {
    try session.counted("Com_insert")
  }

  @Test func `may be none`() async throws {
    let connection = try await Self.prepared { _ in }
    try await connection.read { session throws(DatabaseError) in
      #expect(try session.insert(Self.insert, rows: []) == 0)
    }
    await connection.close()
  }

  @Test func `must be of one length and below the limit`() async throws {
    let connection = try await Self.prepared { $0.insertLimit = 10_000 }
    try await connection.read { session throws(DatabaseError) in
      #expect(throws: DatabaseError(.misuse, "")) {
        try session.insert(Self.insert, rows: [Self.row(1, size: 1), [.null]])
      }
      #expect(throws: DatabaseError(.misuse, "")) { try session.insert(Self.insert, rows: [[]]) }
      #expect(throws: DatabaseError(.misuse, "")) { try session.insert(Self.insert, rows: [[.text("id"), .null]]) }
      #expect(throws: DatabaseError(.tooLarge, "")) {
        try session.insert(Self.insert, rows: [Self.row(1, size: 10_000)])
      }
      #expect(throws: DatabaseError(.tooLarge, "")) {
        try session.insert(Self.insert, rows: (0..<100).map { Self.row($0, size: $0 == 99 ? 10_000 : 10) })
      }
      #expect(try session.query("SELECT COUNT(*) AS c FROM t")[0].int("c") == 0)
      #expect(try session.insert(Self.insert, rows: [Self.row(1, size: 10_000 - 12 - 16 - 12)]) == 1)
    }
    await connection.close()
  }

  /// Every kind of value, and those that a statement's text would have to take care of.
  private static func awkward(_ id: Int) -> [SQLValue] {
    let texts = ["it's \\' \u{0} ?", "日本語 😀", "", "id-\(id)"]
    let bytes: [[UInt8]] = [[], Array(0...255), Array("' OR 1=1 --".utf8), [UInt8](repeating: 0xFF, count: 70_000)]
    return [
      .integer(Int64(id)), id % 3 == 0 ? .null : .text(texts[id % 4]), id % 5 == 0 ? .null : .bytes(bytes[id % 4]),
      id % 2 == 0 ? .integer(.min) : id % 7 == 0 ? .null : .integer(.max), id % 11 == 0 ? .null : .unsigned(.max),
    ]
  }

  @Test(arguments: [1, 2, 3, 7, 8, 9, 15, 31, 32, 33, 63, 64, 100])
  func `are read back as they were, in their order, whatever their number`(count: Int) async throws {
    let connection = try await Self.prepared { _ in }
    try await connection.read { session throws(DatabaseError) in
      try session.run(
        """
        CREATE TABLE kinds (place INT AUTO_INCREMENT PRIMARY KEY, id INT, t LONGTEXT, b LONGBLOB, n BIGINT,
          u BIGINT UNSIGNED)
        """)
      let insert = BulkInsert(into: "INSERT INTO kinds (id, t, b, n, u) VALUES")
      let rows = (0..<count).map(Self.awkward)
      // Twice, since a statement that is there already meets other kinds of values in the same places.
      #expect(try session.insert(insert, rows: rows) == UInt64(count))
      #expect(try session.insert(insert, rows: rows.reversed()) == UInt64(count))
      let read = try session.query("SELECT id, t, b, n, u FROM kinds ORDER BY place").map(\.values)
      #expect(read == rows + rows.reversed())
    }
    await connection.close()
  }

  @Test func `are written whole or not at all when one is refused in the middle of a transaction`() async throws {
    let connection = try await Self.prepared { _ in }
    let plain = BulkInsert(into: "INSERT INTO t (id, n, body) VALUES")
    await #expect(throws: DatabaseError(.duplicateKey, "")) {
      try await connection.transaction { session throws(DatabaseError) in
        _ = try session.insert(plain, rows: (0..<100).map { Self.row($0 == 70 ? 3 : $0, size: 10) })
      }
    }
    try await connection.read { session throws(DatabaseError) in
      #expect(try session.query("SELECT COUNT(*) AS c FROM t")[0].int("c") == 0)
      #expect(try session.insert(plain, rows: (0..<100).map { Self.row($0, size: 10) }) == 100)
    }
    await connection.close()
  }

  @Test func `are written once when the connection is lost between them`() async throws {
    let configuration = try await PrivateMariaDB.shared.database()
    let connection = try await Self.prepared { $0 = configuration }
    let pool = Pool(configuration)
    let attempts = Shared(0)
    let affected = try await pool.transaction { session throws(DatabaseError) in
      let first = try session.insert(Self.insert, rows: (0..<50).map { Self.row($0, size: 10) })
      if attempts.change({ $0 += 1 }) == 0 { try kill(session) }
      return first + (try session.insert(Self.insert, rows: (50..<100).map { Self.row($0, size: 10) }))
    }
    #expect(affected == 100)
    #expect(attempts.value == 2)
    #expect(pool.figures.discarded == 1)
    try await connection.read { session throws(DatabaseError) in
      #expect(try session.query("SELECT COUNT(*) AS c FROM t")[0].int("c") == 100)
    }
    await pool.close()
    await connection.close()
  }

  @Test func `outlive a change of the table they go to`() async throws {
    let connection = try await Self.prepared { _ in }
    try await connection.read { session throws(DatabaseError) in
      let rows = (0..<40).map { Self.row($0, size: 10) }
      #expect(try session.insert(Self.insert, rows: rows) == 40)
      try session.run("ALTER TABLE t ADD COLUMN more INT NOT NULL DEFAULT 7 FIRST, MODIFY body VARBINARY(300)")
      #expect(try session.insert(Self.insert, rows: rows) == 0)
      // As a rebuild exchanges tables.
      try session.run("CREATE TABLE u LIKE t")
      try session.run("RENAME TABLE t TO old, u TO t")
      #expect(try session.insert(Self.insert, rows: rows) == 40)
      let row = try session.query("SELECT COUNT(*) AS c, CAST(SUM(more) AS SIGNED) AS m FROM t")[0]
      #expect(try row.int("c") == 40)
      #expect(try row.int("m") == 280)
    }
    await connection.close()
  }

  @Test func `close no statement that is not theirs, and none of theirs is closed by others`() async throws {
    let connection = try await Self.prepared {
      $0.statementCacheSize = 2
      $0.insertCacheSize = 3
    }
    try await connection.read { session throws(DatabaseError) in
      func insert(_ count: Int) throws(DatabaseError) {
        _ = try session.insert(Self.insert, rows: (0..<count).map { Self.row($0, size: 10) })
      }
      for count in [1, 8, 16] { try insert(count) }
      let before = try Self.preparations(session)
      for count in [1, 8, 16, 25] { try insert(count) }
      #expect(try Self.preparations(session) == before)
      let others: [SQL] = ["SELECT 1", "SELECT 2", "SELECT 3"]
      for sql in others { _ = try session.query(sql) }
      let between = try Self.preparations(session)
      for count in [1, 8, 16] { try insert(count) }
      #expect(try Self.preparations(session) == between)
      for count in [2, 7, 32] { try insert(count) }
      // The question itself was the last of the others.
      #expect(try Self.preparations(session) == between + 3)
      try insert(1)
      #expect(try Self.preparations(session) == between + 4)
    }
    await connection.close()
  }

  private static func preparations(_ session: Session) throws(DatabaseError) -> Int {
    try session.counted("Com_stmt_prepare")
  }
}
