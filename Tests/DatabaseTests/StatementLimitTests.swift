@testable import Database

/// On a server of its own: the limit is one for all of its sessions.
@Suite struct `The server's limit of prepared statements` {
  private static let insert = BulkInsert(into: "INSERT INTO t (n) VALUES")

  private static func withServer(_ limit: Int, _ body: (DatabaseConfiguration) async throws -> Void) async throws {
    let directory = TemporaryDirectory()
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = 16 << 20
    settings.options = ["--innodb-log-file-size=8M", "--max-prepared-stmt-count=\(limit)"]
    let server = EmbeddedServer(directory: directory.path, settings: settings)
    do {
      try await body(try await server.start())
      await server.stop()
    } catch {
      await server.stop()
      throw error
    }
  }

  @Test func `is met by closing what the session has prepared, also within a transaction`() async throws {
    try await Self.withServer(6) { configuration in
      let connection = try await Connection.open(configuration)
      try await connection.read { session throws(DatabaseError) in
        try session.run("CREATE TABLE t (place INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
      }
      let affected = try await connection.transaction { session throws(DatabaseError) in
        var affected: UInt64 = 0
        for count in 1...8 {
          affected += try session.insert(Self.insert, rows: (0..<count).map { _ in [.integer(Int64(count))] })
          _ = try session.query("SELECT n AS \(identifier: "n\(count)") FROM t")
        }
        return affected
      }
      #expect(affected == 36)
      let row = try await connection.read { session throws(DatabaseError) in
        try session.query("SELECT COUNT(*) AS c, CAST(SUM(n) AS SIGNED) AS s FROM t")[0]
      }
      #expect(try row.int("c") == 36)
      #expect(try row.int("s") == (1...8).map { $0 * $0 }.reduce(0, +))
      await connection.close()
    }
  }

  @Test func `is told by its number when others have taken all of it`() async throws {
    try await Self.withServer(3) { configuration in
      let other = try await Connection.open(configuration)
      var (count, refused) = (0, DatabaseError?.none)
      // The session by which the server was seen to be up may be leaving still: what it held becomes free a little later.
      let isFull = await eventually {
        do {
          count += 1
          let text = "n\(count)"
          _ = try await other.read { session throws(DatabaseError) in
            try session.query("SELECT 1 AS \(identifier: text)")
          }
          try await Connection.open(configuration).close()
          return false
        } catch {
          refused = error as? DatabaseError
          return true
        }
      }
      #expect(isFull && refused?.code == .other(1461), "\(String(describing: refused))")
      // Who has them goes on, in place of one of its own.
      _ = try await other.read { session throws(DatabaseError) in try session.query("SELECT 2") }
      await other.close()
    }
  }
}
