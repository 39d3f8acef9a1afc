import Glibc
import Support
import Testing
import Time

@testable import Database

/// Figures, not checks: `SWITCHYARD_MEASURE=1 swift test -c release --filter Measurements`.
///
/// Against a server with the settings of production (a flush of the log for each commit), on this machine's disk.
@Suite(.enabled(if: unsafe getenv("SWITCHYARD_MEASURE") != nil, "only when asked"), .serialized)
struct Measurements {
  private static func withServer(flush: Int, _ body: (Connection) async throws -> Void) async throws {
    let directory = TemporaryDirectory()
    var settings = EmbeddedServer.Settings()
    settings.options = ["--innodb-flush-log-at-trx-commit=\(flush)"]
    let server = EmbeddedServer(directory: directory.path, settings: settings)
    let connection = try await Connection.open(try await server.start())
    try await connection.read { session throws(DatabaseError) in
      for number in 0..<7 {
        let columns: SQL = """
           (id VARBINARY(64) PRIMARY KEY, a BIGINT, b BIGINT, c BIGINT, d BIGINT, e VARCHAR(64), f VARCHAR(64), \
          g VARBINARY(64), h VARBINARY(64), i BIGINT, j INT, body MEDIUMBLOB)
          """
        _ = try session.execute("CREATE TABLE \(identifier: "t\(number)")" + columns)
      }
    }
    try await body(connection)
    await connection.close()
    await server.stop()
  }

  private static func report(_ what: String, times: Int, _ body: (Int) async throws -> Void) async throws {
    for number in 0..<max(1, times / 10) { try await body(number) }
    var durations: [Duration] = []
    for number in 0..<times {
      let start = ContinuousClock.now
      try await body(times + number)
      durations.append(ContinuousClock.now - start)
    }
    durations.sort()
    let (median, least) = (durations[times / 2] / .microseconds(1), durations[0] / .microseconds(1))
    print("MEASURED \(what): median \(median) µs, least \(least) µs")
  }

  private static func rows(_ batch: Int, blob: Int) -> [[SQLValue]] {
    (0..<32).map { number in
      let id = batch * 32 + number
      return [
        .text("transaction-\(id)"), .integer(Int64(id)), .integer(1_767_225_600_000), .integer(-5), .null,
        .text("com.example.app.pro.monthly"), .text("Auto-Renewable Subscription"),
        .bytes([UInt8](repeating: 0xA5, count: 32)), .bytes(Array("2000000000000001".utf8)), .integer(7), .integer(1),
        .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: id), count: blob)),
      ]
    }
  }

  private static let inserts = [
    RowsInsert(
      into: "INSERT INTO t0 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
    RowsInsert(
      into: "INSERT INTO t1 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
    RowsInsert(
      into: "INSERT INTO t2 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
    RowsInsert(
      into: "INSERT INTO t3 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
    RowsInsert(
      into: "INSERT INTO t4 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
    RowsInsert(
      into: "INSERT INTO t5 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
    RowsInsert(
      into: "INSERT INTO t6 (id,a,b,c,d,e,f,g,h,i,j,body) VALUES", then: "ON DUPLICATE KEY UPDATE a=VALUES(a)"),
  ]

  @Test(arguments: [1, 2]) func `one connection`(flush: Int) async throws {
    print("MEASURED with innodb_flush_log_at_trx_commit=\(flush)")
    try await Self.withServer(flush: flush) { connection in
      try await Self.report("SELECT 1 prepared, one hop each", times: 5_000) { _ in
        _ = try await connection.read { session throws(DatabaseError) in try session.query("SELECT 1") }
      }
      try await Self.report("SELECT 1 prepared, 1000 in one hop", times: 20) { _ in
        try await connection.read { session throws(DatabaseError) in
          for _ in 0..<1_000 { _ = try session.query("SELECT 1") }
        }
      }
      try await Self.report("SELECT ? prepared with an argument, one hop", times: 5_000) { number in
        _ = try await connection.read { session throws(DatabaseError) in try session.query("SELECT \(number) AS n") }
      }
      try await Self.report("transaction of one row and COMMIT", times: 300) { number in
        try await connection.transaction { session throws(DatabaseError) in
          _ = try session.execute("INSERT INTO t0 (id, a) VALUES (\("single-\(number)"), 1)")
        }
      }
      try await Self.report("insert 32 rows x 12 columns, 2 KB blob, autocommit", times: 200) { number in
        let rows = Self.rows(number + 1_000_000, blob: 2_048)
        _ = try await connection.read { session throws(DatabaseError) in
          try session.insert(Self.inserts[0], rows: rows)
        }
      }
      for blob in [2_048, 64] {
        try await Self.report("transaction of 7 x 32 rows x 12 columns, \(blob) B blob, and COMMIT", times: 100) { n in
          let rows = Self.rows(n + blob * 1_000, blob: blob)
          try await connection.transaction { session throws(DatabaseError) in
            for insert in Self.inserts { _ = try session.insert(insert, rows: rows) }
          }
        }
      }
    }
  }
}
