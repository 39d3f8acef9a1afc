import Database
import Purchases
import Signing
import Support
import Synchronization
import Testing
import Time

@testable import Ledger

/// What the statements of forwarding read, at two sizes of the backlog: the same, whatever waits.
@Suite struct `Forwarding reads` {
  private static let sizes = [10_000, 100_000]
  private static let taken = 32

  @Test func `no more rows the more messages wait`() async throws {
    let fixture = try await OutboxFixture()
    let backlog = Backlog(fixture: fixture)
    try await Backlog.prepare(fixture.pool)
    for size in Self.sizes {
      try await backlog.grow(to: size)
      for (name, most, read) in try await measure(fixture, size) {
        #expect(read.total <= most, "\(name) at \(size) waiting messages: \(read)")
      }
    }
    await fixture.pool.close()
  }

  /// Each step of the forwarding, the most rows that it may read, and what it read.
  private func measure(
    _ fixture: OutboxFixture, _ size: Int
  ) async throws -> [(name: String, most: Int, read: RowsRead)] {
    let (pool, destination, taken) = (fixture.pool, fixture.destination, Self.taken)
    var figures: [(String, Int, RowsRead)] = []
    func note(_ name: String, most: Int, _ body: @Sendable (Session) throws(DatabaseError) -> Void) async throws {
      figures.append((name, most, try await RowsRead.during(pool, body)))
    }
    let lease = OutboxTurn.Lease(
      owner: .random(count: 16), now: OutboxFixture.now, end: OutboxFixture.now + .seconds(60))
    var turn = OutboxTurn()
    turn.wanted = [.proven: taken, .claimed: taken, .unproven: taken]
    turn.bytes = turn.wanted.mapValues { _ in 1 << 30 }
    let wanting = turn
    let leased = Mutex<[LeasedDelivery]>([])

    try await note("looking what is due", most: 20) { session throws(DatabaseError) in
      #expect(try OutboxTable.due(at: lease.now, in: session).first?.due == [.proven])
    }
    try await note("leasing", most: 32 * taken) { session throws(DatabaseError) in
      let outcome = try OutboxTable.take(wanting, at: destination.id, lease, in: session)
      leased.withLock { $0 = outcome.leased }
    }
    let first = leased.withLock { $0 }
    try #require(first.count == taken)
    try await note("reading the bodies", most: 6 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.messages(first.map(\.message), for: destination, in: session).count == taken)
    }
    var both = wanting
    both.settlements = first.map { Settlement($0, .delivered) }
    let settling = both
    try await note("settling and leasing", most: 44 * taken) { session throws(DatabaseError) in
      let outcome = try OutboxTable.take(settling, at: destination.id, lease, in: session)
      leased.withLock { $0 = outcome.leased }
    }
    let second = leased.withLock { $0 }
    var others = OutboxTurn()
    others.settlements = second.enumerated().map { index, delivery in
      switch index % 3 {
      case 0: Settlement(delivery, .released)
      case 1: Settlement(delivery, .failed(error: "answered 503", retryAt: lease.now + .minutes(1)))
      default: Settlement(delivery, .dead(error: "answered 410"))
      }
    }
    let failing = others
    try await note("settling what failed", most: 12 * taken) { session throws(DatabaseError) in
      _ = try OutboxTable.take(failing, at: destination.id, lease, in: session)
    }
    let dead = second.enumerated().filter { $0.offset % 3 == 2 }.map(\.element.sequence)
    try await note("replaying", most: 4 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.replay(dead, at: lease.now, in: session) == dead.count)
    }
    try await note("sorting", most: 12 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.sort(at: destination, in: session) == dead.count)
    }
    try await note("giving up", most: 12 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.giveUp(dead, at: lease.now, in: session) == dead.count)
    }
    try await note("a step of the sweep", most: 12 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.sweep(destination, after: nil, limit: taken, at: lease.now, in: session).freed == 0)
    }
    try await note("a join of customers", most: 12 * taken) { session throws(DatabaseError) in
      let labels = ["o\(size / 4 - 8)": "o\(size / 4 - 9)", "o\(size / 4 - 7)": "o\(size / 4 - 9)"]
      try OutboxKeys.rename(labels, in: fixture.scope, session)
    }
    let messages = (0..<taken).map { number in
      OutboxTable.Outgoing(
        message: .sha256(Array("new \(size) \(number)".utf8)),
        addressee: .init(fixture.scope, epoch: nil, at: lease.now, proof: .proven), proof: .proven, size: 40,
        members: [.originalTransactionID("big"), .originalTransactionID("\(number)")])
    }
    try await note("enqueueing", most: 12 * taken) { session throws(DatabaseError) in
      let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
      try OutboxTable.enqueue(messages, roads, in: session)
    }
    return figures
  }
}
