@testable import Ledger

/// The steps of forwarding a backlog, in order.
///
/// The caller runs each step and examines its statements.
struct OutboxSteps {
  /// Runs a step in a transaction; `most` is the most rows that it may read.
  typealias Run = (
    _ name: String, _ most: Int, _ step: @Sendable (Session) throws(DatabaseError) -> Void
  ) async throws -> Void

  static let taken = 32

  let fixture: OutboxFixture
  /// How many messages wait.
  let size: Int

  private var lease: OutboxTurn.Lease {
    OutboxTurn.Lease(
      owner: .random(count: 16), now: OutboxFixture.now, end: OutboxFixture.now + .seconds(60))
  }

  private func turn(
    _ wanted: Set<TrustLevel>, _ settlements: [Settlement] = [], limit: Int = taken
  ) -> OutboxTurn {
    var turn = OutboxTurn()
    turn.wanted = wanted.reduce(into: [:]) { $0[$1] = limit }
    turn.bytes = turn.wanted.mapValues { _ in 1 << 30 }
    turn.settlements = settlements
    return turn
  }

  /// A turn; what it leased.
  private func take(
    _ name: String, most: Int, _ turn: OutboxTurn, _ run: Run
  ) async throws -> [LeasedDelivery] {
    let (destination, lease) = (fixture.destination, lease)
    let leased = Mutex<[LeasedDelivery]>([])
    try await run(name, most) { session throws(DatabaseError) in
      let outcome = try OutboxTable.take(turn, at: destination.id, lease, in: session)
      leased.withLock { $0 = outcome.leased }
    }
    return leased.withLock { $0 }
  }

  func each(_ run: Run) async throws {
    try await sending(run)
    try await mending(run)
    try await holding(run)
  }

  private func sending(_ run: Run) async throws {
    let (destination, taken, now) = (fixture.destination, Self.taken, OutboxFixture.now)
    // MySQL reads its dictionary through the same counters when a session first uses a table.
    _ = try await fixture.pool.read { session throws(DatabaseError) in try OutboxTable.due(at: now, in: session) }
    try await run("looking what is due", 32) { session throws(DatabaseError) in
      #expect(try OutboxTable.due(at: now, in: session).first?.due == [.proven])
    }
    let all = Set(TrustLevel.allCases)
    let first = try await take("leasing", most: 40 * taken, turn(all), run)
    try #require(first.count == taken)
    try await run("reading the bodies", 7 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.messages(first.map(\.message), for: destination, .ofTests, in: session).count == taken)
    }
    let second = try await take(
      "settling and leasing", most: 44 * taken, turn(all, first.map { Settlement($0, .delivered) }), run)
    let others = second.enumerated().map { index, delivery in
      switch index % 3 {
      case 0: Settlement(delivery, .released)
      case 1: Settlement(delivery, .failed(error: "answered 503", retryAt: now + .minutes(1)))
      default: Settlement(delivery, .dead(error: "answered 410"))
      }
    }
    _ = try await take("settling what failed", most: 12 * taken, turn([], others), run)
    let dead = second.enumerated().filter { $0.offset % 3 == 2 }.map(\.element.sequence)
    try await run("replaying", 4 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.replay(dead, at: now, in: session).changed == dead.count)
    }
    try await run("sorting", 12 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.sort(at: destination, in: session) == dead.count)
    }
    try await run("giving up", 12 * taken) { session throws(DatabaseError) in
      #expect(try OutboxTable.giveUp(dead, at: now, in: session) == dead.count)
    }
  }

  private func mending(_ run: Run) async throws {
    let (fixture, size, taken, now) = (fixture, size, Self.taken, OutboxFixture.now)
    try await run("a step of the sweep", 16 * taken) { session throws(DatabaseError) in
      let step = try OutboxTable.sweep(fixture.destination, after: nil, limit: taken, at: now, in: session)
      #expect(step.freed == 0)
    }
    try await run("a join of customers", 12 * taken) { session throws(DatabaseError) in
      let labels = ["o\(size / 4 - 8)": "o\(size / 4 - 9)", "o\(size / 4 - 7)": "o\(size / 4 - 9)"]
      try OutboxKeys.rename(labels, in: fixture.scope, session)
    }
    let messages = (0..<taken).map { number in
      message("new \(number)", .proven, at: now, naming: ["big", "\(number)"])
    }
    try await run("enqueueing", 12 * taken) { session throws(DatabaseError) in
      let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
      try OutboxTable.enqueue(messages, roads, in: session)
    }
  }

  /// Signed messages wait for claimed ones of their customers, and are due at once when these are settled.
  private func holding(_ run: Run) async throws {
    let (fixture, taken, now) = (fixture, Self.taken, OutboxFixture.now)
    let customers = (0..<taken).map { "held \(size) \($0)" }
    // The signed ones are due before all else that waits.
    let messages =
      customers.map { message("claimed \($0)", .claimed, at: now, naming: [$0]) }
      + customers.map { message("signed \($0)", .proven, at: now + .days(-1), naming: [$0]) }
    try await fixture.pool.transaction { session throws(DatabaseError) in
      let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
      try OutboxTable.enqueue(messages, roads, in: session)
    }
    let claimed = try await take("leasing claimed messages", most: 32 * taken, turn([.claimed]), run)
    try #require(claimed.count == taken)
    let others = try await take(
      "holding signed messages behind them", most: 64 * taken, turn([.proven]), run)
    #expect(others.count == taken && others.allSatisfy { $0.createdAt > now + .days(-1) })
    #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE held = 1") == taken)
    _ = try await take(
      "settling the claimed ones", most: 44 * taken, turn([], claimed.map { Settlement($0, .delivered) }), run)
    #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE held = 1") == 0)
    // Due from now on, as are the messages that were given back and enqueued above; the backlog was due before.
    var later = turn([.proven], limit: 2 * taken)
    later.since = [.proven: now]
    let held = try await take("leasing what was held", most: 64 * taken, later, run)
    #expect(held.count { $0.createdAt == now + .days(-1) } == taken)
  }

  private func message(
    _ text: String, _ proof: TrustLevel, at start: Timestamp, naming originals: [String]
  ) -> OutboxTable.Outgoing {
    OutboxTable.Outgoing(
      message: .sha256(Array("\(text) \(size)".utf8)),
      addressee: .init(fixture.scope, epoch: nil, at: start, proof: proof), proof: proof, size: 40,
      members: Set(originals.map(CustomerNode.originalTransactionID)))
  }
}
