@testable import Ledger

/// Customers may join while a turn of the outbox looks under their keys.
@Suite struct `The outbox when customers join within a turn` {
  /// Runs `body` in a transaction; when its first statement with this text is about to be sent, customers "1" and "2" are
  /// joined by a session of their own.
  private func joining<R: Sendable>(
    at text: String, _ fixture: OutboxFixture, _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) async throws -> R {
    let join = fixture.entry("join", ["1", "2"], forwarded: false)
    guard case .accepted(let acceptance) = join.content else { throw DatabaseError(.misuse, "not accepted") }
    let (findings, app, database) = (acceptance.findings, fixture.base.app.id, fixture.base.configuration)
    let isJoined = Atomic(false)
    return try await fixture.pool.transaction { session throws(DatabaseError) in
      session.onStatement = { _, sql throws(DatabaseError) in
        guard sql.text.contains(text), !isJoined.exchange(true, ordering: .relaxed) else { return }
        let other = try Session(database)
        try other.run("START TRANSACTION")
        try CustomerTable.note([(app, findings)], renaming: OutboxKeys.rename, in: other)
        try other.run("COMMIT")
      }
      defer { session.onStatement = nil }
      let result = try body(session)
      let wasReached = isJoined.load(ordering: .relaxed)
      #expect(wasReached)
      return result
    }
  }

  /// A ledger in which a claimed message of customer "2" waits, and then a proven one.
  private func waiting() async throws -> (fixture: OutboxFixture, sequences: [Int64]) {
    let fixture = try await OutboxFixture()
    for entry in [
      fixture.entry("one", ["1"], forwarded: false), fixture.entry("claimed", ["2"], proof: .claimed),
      fixture.entry("proven", ["2"]),
    ] {
      _ = try await fixture.ledger.append([entry])
    }
    let sequences = try await fixture.pool.read { session throws(DatabaseError) in
      try session.query("SELECT sequence FROM outbox ORDER BY sequence").map { row throws(DatabaseError) in
        try row.int64(0)
      }
    }
    return (fixture, sequences)
  }

  @Test func `still has a proven message wait for an earlier claimed one`() async throws {
    let (fixture, sequences) = try await waiting()
    // Between the reading of the heads and the look-up of the claimed message.
    let obstacles = try await joining(at: "AS behind", fixture) { session throws(DatabaseError) in
      try OutboxKeys.obstacles(of: sequences, in: session)
    }
    #expect(obstacles.count == 1)
    #expect(obstacles[sequences[1]]?.claimed.map(\.sequence) == [sequences[0]])
    await fixture.pool.close()
  }

  @Test func `finds all of the customers whose messages are settled`() async throws {
    let (fixture, sequences) = try await waiting()
    let customers = try await joining(at: "SELECT k.customer FROM", fixture) { session throws(DatabaseError) in
      try OutboxKeys.remove([sequences[0]], in: session)
    }
    let left = try await fixture.pool.read { session throws(DatabaseError) in
      try session.query("SELECT DISTINCT customer FROM outbox_keys").map { row throws(DatabaseError) in
        try row.text(0)
      }
    }
    #expect(Set(left) == customers.filter { !$0.hasPrefix("t") } && left.count == 1, "\(left) \(customers)")
    await fixture.pool.close()
  }
}
