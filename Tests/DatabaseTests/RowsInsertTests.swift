import Database
import Support
import Testing

@Suite struct `Rows written at once` {
  private static let insert = RowsInsert(
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

  @Test(arguments: [(limit: 16 << 20, statements: 1), (limit: 10_000, statements: 50)])
  func `go in as few statements as the limit allows`(limit: Int, statements: Int) async throws {
    let connection = try await Self.prepared { $0.insertLimit = limit }
    try await connection.read { session throws(DatabaseError) in
      let before = try Self.inserts(session)
      let rows = (0..<200).map { Self.row($0, size: 1_000) }
      #expect(try session.insert(Self.insert, rows: rows) == 200)
      #expect(try Self.inserts(session) - before == statements)
      #expect(try session.insert(Self.insert, rows: rows) == 0)
      #expect(try session.insert(Self.insert, rows: [[.text("id-7"), .integer(-7), .null]]) == 2)
      let row = try session.query("SELECT COUNT(*) AS c, SUM(n) AS s, SUM(LENGTH(body)) AS l FROM t")[0]
      #expect(try row.int("c") == 200)
      #expect(try row.int("s") == 199 * 100 - 14)
      #expect(try row.int("l") == 199_000)
    }
    await connection.close()
  }

  private static func inserts(_ session: Session) throws(DatabaseError) -> Int {
    try session.query(
      """
      SELECT CAST(VARIABLE_VALUE AS SIGNED) AS n FROM information_schema.SESSION_STATUS \
      WHERE VARIABLE_NAME = 'COM_INSERT'
      """)[0].int("n")
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
      #expect(throws: DatabaseError(.tooLarge, "")) {
        try session.insert(Self.insert, rows: [Self.row(1, size: 6_000)])
      }
      #expect(throws: DatabaseError(.tooLarge, "")) {
        try session.insert(Self.insert, rows: [Self.row(1, size: 10), Self.row(2, size: 6_000)])
      }
      #expect(try session.query("SELECT 1").count == 1)
    }
    await connection.close()
  }
}
