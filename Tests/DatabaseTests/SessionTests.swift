@Suite struct `A session` {
  private static let awkward: [SQLValue] = [
    .text("it's \"quoted\" \\ and \\' more; -- \u{0} %s ?"), .text(""), .text("日本語 😀 e\u{301}"), .text("plain words"),
    .bytes([]), .bytes(Array(0...255)), .bytes(Array("' OR 1=1 --".utf8)),
    .integer(.min), .integer(.max), .integer(0), .integer(-1), .unsigned(.max), .unsigned(0), .null,
  ]

  private static func column(_ value: SQLValue) -> SQL {
    switch value {
    case .null, .integer: "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, v BIGINT)"
    case .unsigned: "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, v BIGINT UNSIGNED)"
    case .bytes: "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, v LONGBLOB)"
    case .text: "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, v LONGTEXT)"
    }
  }

  @Test(arguments: awkward) func `gives back what went in, by either way`(value: SQLValue) async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    let rows = try await connection.read { session throws(DatabaseError) in
      try session.run(Self.column(value))
      let outcome = try session.execute("INSERT INTO t (v) VALUES (\(value))")
      #expect(outcome.affectedRows == 1)
      #expect(outcome.lastInsertID == 1)
      let insert = BulkInsert(into: "INSERT INTO t (v) VALUES")
      #expect(try session.insert(insert, rows: [[value], [value]]) == 2)
      #expect(try session.query("SELECT 1 FROM t WHERE v <=> \(value)").count == 3)
      return try session.query("SELECT n, v FROM t ORDER BY n")
    }
    #expect(try rows.map { try $0.int("n") } == [1, 2, 3])
    #expect(try rows.map { try $0.value("v") } == [value, value, value])
    await connection.close()
  }

  @Test func `starts with the same settings everywhere`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    let row = try await connection.read { session throws(DatabaseError) in
      try session.query(
        """
        SELECT @@collation_connection AS c, @@character_set_results AS r, @@time_zone AS z, @@sql_mode AS m, \
        @@innodb_lock_wait_timeout AS w, @@autocommit AS a
        """)
    }.first
    let settings = try #require(row)
    #expect(try settings.text("c") == "utf8mb4_bin")
    #expect(try settings.text("r") == "utf8mb4")
    #expect(try settings.text("z") == "+00:00")
    #expect(try settings.text("m").contains("STRICT_ALL_TABLES"))
    #expect(try settings.int("w") == 5)
    #expect(try settings.bool("a"))
    // By its older name, its newer one or both, as the server has it.
    let isolation = try await connection.read { session throws(DatabaseError) in
      try session.query(
        "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')"
      ).map { row throws(DatabaseError) in try row.text("Value") }
    }
    #expect(Set(isolation) == ["READ-COMMITTED"])
    // MySQL does not have it.
    let idle = try await connection.read { session throws(DatabaseError) in
      try session.query("SHOW SESSION VARIABLES LIKE 'idle_transaction_timeout'").map { row throws(DatabaseError) in
        try row.text("Value")
      }
    }
    #expect(idle.allSatisfy { $0 == "20" }, "seconds")
    await connection.close()
  }

  @Test func `reads values of megabytes, and refuses those above the limit`() async throws {
    var configuration = try await PrivateMariaDB.shared.database()
    configuration.columnLimit = 3 << 20
    let connection = try await Connection.open(configuration)
    let sizes = try await connection.read { session throws(DatabaseError) in
      try session.query(
        """
        SELECT REPEAT('a', 3) AS v UNION ALL SELECT REPEAT('b', 3 << 20) UNION ALL SELECT REPEAT('c', 70000) \
        UNION ALL SELECT ''
        """
      ).map { row throws(DatabaseError) in try row.text("v").utf8.count }
    }
    #expect(sizes == [3, 3 << 20, 70_000, 0])
    await #expect(throws: DatabaseError(.tooLarge, "")) {
      try await connection.read { session throws(DatabaseError) in
        try session.query("SELECT REPEAT('b', (3 << 20) + 1) AS v UNION ALL SELECT 'after'")
      }
    }
    let next = try await connection.read { session throws(DatabaseError) in try session.query("SELECT 1") }
    #expect(next.count == 1)
    await connection.close()
  }

  @Test func `sends values of megabytes, and refuses those the server would hang up on`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      let large = [UInt8](repeating: 0xFF, count: 40 << 20)
      let row = try session.query("SELECT \(large) AS v")[0]
      let count = try row.bytes("v").count
      #expect(count == 40 << 20)
      #expect(throws: DatabaseError(.tooLarge, "")) { try session.query("SELECT \(large), \(large)") }
      #expect(try session.query("SELECT 1").count == 1)
    }
    await connection.close()
  }

  @Test func `streams, stops where it is told to, and refuses a second statement meanwhile`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      var sum: Int64 = 0
      try session.query("SELECT seq FROM \(SQL.numbers(10_000))") { row throws(DatabaseError) in
        sum += try row.int64("seq")
      }
      #expect(sum == 50_005_000)
      var seen = 0
      #expect(throws: DatabaseError(.abandoned, "")) {
        try session.query("SELECT seq FROM \(SQL.numbers(10_000))") { _ throws(DatabaseError) in
          seen += 1
          if seen == 10 { throw DatabaseError.abandoned("enough") }
        }
      }
      #expect(seen == 10)
      #expect(throws: DatabaseError(.misuse, "")) {
        try session.query("SELECT seq FROM \(SQL.numbers(10))") { _ throws(DatabaseError) in
          _ = try session.query("SELECT 1")
        }
      }
      #expect(try session.query("SELECT 1 AS one").count == 1)
    }
    await connection.close()
  }

  @Test func `bounds a collected result`() async throws {
    var configuration = try await PrivateMariaDB.shared.database()
    configuration.resultLimit = 100_000
    let connection = try await Connection.open(configuration)
    await #expect(throws: DatabaseError(.tooLarge, "")) {
      try await connection.read { session throws(DatabaseError) in
        try session.query("SELECT seq FROM \(SQL.numbers(100_000))")
      }
    }
    await connection.close()
  }

  @Test func `keeps a bounded number of prepared statements`() async throws {
    var configuration = try await PrivateMariaDB.shared.database()
    configuration.statementCacheSize = 3
    let connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in
      let texts: [SQL] = ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5", "SELECT 1"]
      for sql in texts + texts { _ = try session.query(sql) }
      let prepared = try session.counted("Com_stmt_prepare")
      let closed = try session.counted("Com_stmt_close")
      // MySQL counts one more.
      #expect(prepared - closed <= (session.serverVersion.contains("MariaDB") ? 3 : 4), "\(prepared), \(closed)")
      #expect(prepared > 5)
    }
    await connection.close()
  }

  @Test func `notices an altered table`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE t (a INT)")
      _ = try session.execute("INSERT INTO t (a) VALUES (\(1))")
      #expect(try session.query("SELECT * FROM t")[0].values == [.integer(1)])
      try session.run("ALTER TABLE t ADD COLUMN b VARCHAR(10) DEFAULT 'x'")
      #expect(try session.query("SELECT * FROM t")[0].values == [.integer(1), .text("x")])
      try session.run("ALTER TABLE t MODIFY COLUMN a BIGINT UNSIGNED")
      #expect(try session.query("SELECT a FROM t")[0].int64("a") == 1)
    }
    await connection.close()
  }

  @Test func `reads sums of integers as integers`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    let row = try await connection.read { session throws(DatabaseError) in
      try session.query("SELECT SUM(seq) AS s, AVG(seq) AS a, NULL AS n, 1.5 AS d FROM \(SQL.numbers(4))")[0]
    }
    #expect(try row.int64("s") == 10)
    #expect(try row.text("a") == "2.5000")
    #expect(try row.optionalText("n") == nil)
    await connection.close()
  }

  @Test func `matches lists, empty ones too`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      let some = [2, 3, 99]
      let none: [Int] = []
      #expect(try session.query("SELECT seq FROM \(SQL.numbers(5)) WHERE seq IN (\(list: some))").count == 2)
      #expect(try session.query("SELECT seq FROM \(SQL.numbers(5)) WHERE seq IN (\(list: none))").isEmpty)
      #expect(try session.query("SELECT seq FROM \(SQL.numbers(5)) WHERE seq NOT IN (\(list: none))").count == 5)
    }
    await connection.close()
  }

  @Test func `says what was misused`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      let row = try session.query("SELECT 1 AS one, 'x' AS text, NULL AS nothing, -1 AS negative")[0]
      #expect(throws: DatabaseError(.column, "")) { try row.int64("absent") }
      #expect(throws: DatabaseError(.column, "")) { try row.int64(9) }
      #expect(throws: DatabaseError(.column, "")) { try row.text("one") }
      #expect(throws: DatabaseError(.column, "")) { try row.int64("text") }
      #expect(throws: DatabaseError(.column, "")) { try row.bytes("nothing") }
      #expect(throws: DatabaseError(.column, "")) { try row.uint64("negative") }
      #expect(throws: DatabaseError(.misuse, "")) { try session.run("SELECT \(1)") }
      #expect(throws: DatabaseError(.misuse, "")) { try session.query("SET @a = 1") }
      #expect(throws: DatabaseError(.misuse, "")) { try session.createDatabase("a`; DROP DATABASE t1; --") }
      #expect(throws: DatabaseError(.other(1064), "")) { try session.query("SELECT FROM WHERE") }
      #expect(throws: DatabaseError(.other(1146), "")) { try session.query("SELECT 1 FROM absent") }
    }
    await connection.close()
  }

  @Test func `never repeats a value in an error`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    let details = try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE t (k VARCHAR(60) PRIMARY KEY, e ENUM('a'), n INT)")
      let secret = "hunter2' for key 'x"
      let insert = BulkInsert(into: "INSERT INTO t (k, n) VALUES")
      _ = try session.insert(insert, rows: [[.text(secret), .null]])
      var details: [DatabaseError] = []
      func note(_ attempt: () throws(DatabaseError) -> Void) {
        do throws(DatabaseError) {
          try attempt()
          Issue.record("no error")
        } catch {
          details.append(error)
        }
      }
      note { () throws(DatabaseError) in _ = try session.execute("INSERT INTO t (k) VALUES (\(secret))") }
      note { () throws(DatabaseError) in _ = try session.insert(insert, rows: [[.text(secret), .null]]) }
      note { () throws(DatabaseError) in _ = try session.execute("INSERT INTO t (k, n) VALUES ('b', \(secret))") }
      note { () throws(DatabaseError) in
        _ = try session.insert(BulkInsert(into: "INSERT INTO t (k, n) VALUE S"), rows: [[.text("hunter2"), .null]])
      }
      return details
    }
    #expect(details.map(\.code) == [.duplicateKey, .duplicateKey, .other(1366), .other(1064)])
    for error in details { #expect(!error.description.contains("hunter2"), "\(error)") }
    // MySQL names the table, too.
    let key = details[0].detail.replacing("t.PRIMARY", with: "PRIMARY")
    #expect(key.contains("for key 'PRIMARY'"))
    await connection.close()
  }
}
