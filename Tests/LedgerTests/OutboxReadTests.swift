import Database
import Glibc
import Support
import Testing

@testable import Ledger

/// A backlog in a database of its own.
private struct FilledOutbox: FilledLedger {
  static let largest = "outbox"

  let fixture: OutboxFixture

  var pool: Pool { fixture.pool }

  init(_ database: DatabaseConfiguration) async throws {
    fixture = try await OutboxFixture(try await LedgerFixture(database))
    try await Backlog.prepare(pool)
  }

  init(again database: DatabaseConfiguration) async throws {
    fixture = try await OutboxFixture(try await LedgerFixture(again: database))
  }

  func grow(to size: Int) async throws { try await Backlog(fixture: fixture).grow(to: size) }
}

/// What the statements of forwarding read, at two sizes of the backlog: the same, whatever waits.
@Suite struct `Forwarding reads` {
  private static let sizes = HotSizes.sizes

  private static let isPrinted = unsafe getenv("SWITCHYARD_MEASURE") != nil

  /// With SWITCHYARD_MEASURE what each step read is printed.
  @Test func `no more rows the more messages wait`() async throws {
    let fixture = try await OutboxFixture(on: .quiet)
    let backlog = Backlog(fixture: fixture)
    try await Backlog.prepare(fixture.pool)
    for size in Self.sizes {
      try await backlog.grow(to: size)
      try await OutboxSteps(fixture: fixture, size: size).each { name, most, step in
        try await PrivateMariaDB.quiet.purge()
        let read = try await RowsRead.during(fixture.pool, step)
        if Self.isPrinted { Swift.print("| \(name) | \(size) | \(most) | \(read) |") }
        #expect(read.total <= most, "\(name) at \(size) waiting messages: \(read)")
      }
    }
    await fixture.pool.close()
  }

  @Test(arguments: BelievedStatistics.allCases)
  func `no more rows where the server's statistics are`(_ statistics: BelievedStatistics) async throws {
    let size = Self.sizes[1]
    try await statistics.during(size) { (grown: FilledOutbox) in
      try await OutboxSteps(fixture: grown.fixture, size: size).each { name, most, step in
        try await Self.purge(grown.pool)
        let read = try await RowsRead.during(grown.pool, step)
        #expect(read.total <= most, "\(name): \(read)")
      }
    }
  }

  /// What `PrivateMariaDB.purge` does, for the server of one test.
  private static func purge(_ pool: Pool) async throws {
    guard !PrivateMariaDB.isGiven else { return }
    try await pool.read { session throws(DatabaseError) in
      try session.run("SET GLOBAL innodb_max_purge_lag_wait = 0")
    }
  }

  /// With SWITCHYARD_MEASURE the plans are printed as the rows of a table: docs/benchmarks.md.
  @Test func `by an index, never a whole table`() async throws {
    let fixture = try await OutboxFixture()
    try await Backlog.prepare(fixture.pool)
    let size = Self.sizes[1]
    try await Backlog(fixture: fixture).grow(to: size)
    var explained: Set<String> = []
    try await OutboxSteps(fixture: fixture, size: size).each { name, _, step in
      for plan in try await StatementPlan.during(fixture.pool, step) {
        for access in plan.accesses where access.isScan {
          #expect(Self.small.contains(access.table), "\(name): \(access) of \(plan.statement)")
        }
        // At this size the server still finds the rows by itself; at 100,000 with empty statistics it read all of them.
        if plan.statement.hasPrefix("UPDATE outbox ") {
          #expect(plan.statement.hasPrefix("UPDATE outbox FORCE INDEX ("), "\(name): \(plan.statement)")
        }
        explained.formUnion(plan.accesses.map(\.table))
        if Self.isPrinted { Self.print(plan, of: name) }
      }
    }
    // Otherwise nothing was explained, or nothing by these names.
    #expect(explained.isSuperset(of: ["outbox", "k", "m"]), "\(explained)")
    await fixture.pool.close()
  }

  /// What may be read whole, by its name in the statements: lists of sequences, and tables of a few rows.
  private static let small: Set<String> = ["j", "<derived2>", "d", "destinations", "f", "t", "outbox_turns"]

  private static func print(_ plan: StatementPlan, of step: String) {
    let accesses = plan.accesses.map { "\($0.table) \($0.type) \($0.key) \($0.rows) \($0.filtered)" }
    // A list is one `?`, and of a UNION's equal parts each is there once.
    let statement = plan.statement.replacing(#/\?(,\?)+/#, with: "?…").split(separator: " UNION ALL ")[0]
    Swift.print("| \(step) | `\(statement)` | \(Set(accesses).sorted().joined(separator: "; ")) |")
  }
}
