@testable import Ledger

/// A backlog of messages, and the paths of forwarding.
struct FilledOutbox: FilledLedger {
  let largest = "outbox"
  let fixture: OutboxFixture

  var pool: Pool { fixture.pool }

  init() async throws { fixture = try await OutboxFixture(on: .quiet) }

  func grow(from first: Int, to size: Int) async throws { try await Backlog(fixture: fixture).grow(to: size) }

  func run(_ paths: PlanCounter) async throws {
    try await OutboxSteps(fixture: fixture, size: paths.size).each { name, most, step in
      try await PrivateMariaDB.quiet.purge()
      try await paths.transaction(name, most: most, growth: nil, step)
    }
    guard paths.size == PlanTests.sizes[1] else { return }
    // The same steps with the messages of other customers, explained.
    var explained: Set<String> = []
    try await OutboxSteps(fixture: fixture, size: paths.size - 40).each { name, _, step in
      for plan in try await StatementPlan.during(pool, step) {
        for access in plan.accesses where access.isScan {
          #expect(Self.small.contains(access.table), "\(name): \(access) of \(plan.statement)")
        }
        // At 2,000 messages the server finds the rows without the hint. At 100,000 it read all of them.
        if plan.statement.hasPrefix("UPDATE outbox ") {
          #expect(plan.statement.hasPrefix("UPDATE outbox FORCE INDEX ("), "\(name): \(plan.statement)")
        }
        explained.formUnion(plan.accesses.map(\.table))
      }
    }
    #expect(explained.isSuperset(of: ["outbox", "k", "m"]), "\(explained)")
  }

  /// The tables that a statement may scan, by their names in the statements: lists of sequences and tables of a few rows.
  private static let small: Set<String> = ["j", "<derived2>", "d", "destinations", "f", "t", "outbox_turns"]
}
