@testable import Ledger

/// The rows that statements read at two sizes of a ledger, by the counters of the server.
///
/// All ledgers are in one server, which has no other databases.
@Suite(.serialized) struct PlanTests {
  /// The two sizes. (`scripts/soak plans` sets the larger one.)
  static let sizes: [Int] = {
    let most = unsafe getenv("SWITCHYARD_PLAN_CUSTOMERS").flatMap { unsafe Int(String(cString: $0)) } ?? 2_000
    return [most / 4, most]
  }()

  @Test(arguments: BelievedStatistics.tested)
  func `ingestion, lookups and work read the same rows at both sizes`(statistics: BelievedStatistics) async throws {
    try await count(GrownLedger(on: .quiet), statistics)
  }

  @Test(arguments: BelievedStatistics.tested)
  func `responses and bulk migrations read the same rows at both sizes`(statistics: BelievedStatistics) async throws {
    try await count(AnsweredLedger(grown: GrownLedger(on: .quiet)), statistics)
  }

  @Test(arguments: BelievedStatistics.tested)
  func `forwarding reads the same rows at both sizes`(statistics: BelievedStatistics) async throws {
    try await count(FilledOutbox(), statistics)
  }

  /// Fills a ledger to one size after the other, and runs its paths at each.
  private func count(_ filled: some FilledLedger, _ statistics: BelievedStatistics) async throws {
    let counter = PlanCounter(pool: filled.pool, statistics: statistics)
    try await statistics.prepare(filled.pool)
    for size in Self.sizes {
      try await filled.grow(from: counter.size, to: size)
      try await statistics.take(hold: filled.pool, largest: filled.largest, size: size)
      counter.size = size
      try await filled.run(counter)
    }
    await filled.pool.close()
  }
}

/// A ledger of many rows, and the paths through Switchyard that read them.
protocol FilledLedger {
  /// A table that has at least as many rows as the size.
  var largest: String { get }
  var pool: Pool { get }

  func grow(from first: Int, to size: Int) async throws
  func run(_ paths: PlanCounter) async throws
}

/// Counts the rows that paths read, and compares them with the bound of each path.
final class PlanCounter {
  let pool: Pool
  let statistics: BelievedStatistics
  var size = 0
  private var before: [String: RowsRead] = [:]

  init(pool: Pool, statistics: BelievedStatistics) { (self.pool, self.statistics) = (pool, statistics) }

  /// Runs a path over a pool of one connection.
  ///
  /// - Parameter growth: the most rows that it may read at the larger size, by the rows at the smaller size. `nil` if only
  ///   `most` limits them.
  func path(
    _ name: String, most: Int, growth: ((Int) -> Int)? = { $0 + $0 / 4 + 16 }, _ body: () async throws -> Void
  ) async throws {
    note(name, most, growth, try await RowsRead.duringAll(of: pool, body))
  }

  /// Runs the statements of a path in one transaction.
  func transaction(
    _ name: String, most: Int, growth: ((Int) -> Int)? = { $0 + $0 / 4 + 16 },
    _ body: @Sendable (Session) throws(DatabaseError) -> Void
  ) async throws {
    note(name, most, growth, try await RowsRead.during(pool, body))
  }

  private func note(_ name: String, _ most: Int, _ growth: ((Int) -> Int)?, _ read: RowsRead) {
    if Self.isPrinted { print("| \(name) | \(size) | \(most) | \(read) |") }
    #expect(read.total <= most, "\(name) at \(size): \(read)")
    if let growth, let before = before[name] {
      #expect(read.total <= growth(before.total), "\(name): \(before), then \(read)")
    }
    before[name] = read
  }

  private static let isPrinted = unsafe getenv("SWITCHYARD_MEASURE") != nil
}
