@testable import Ledger

/// What is locked while somebody else's transaction lasts, and who waits for it.
@Suite struct `A claim` {
  private static func claim(
    _ fixture: ClaimFixture, of original: String, body: String, proof: TrustLevel = .claimed
  ) -> LedgerEntry {
    let message = InboxMessage(kind: .notification, body: Array(body.utf8), receivedAt: fixture.time(1))
    let findings = fixture.findings(.notificationV1, of: original, 0...0, at: 1)
    return LedgerEntry(
      message,
      .accepted(LedgerEntry.AcceptedMessage(app: fixture.app.id, findings: findings, signedAt: nil, title: "test")),
      proof: proof)
  }

  /// A JWS whose header is `header`, in a body of its own.
  private static func body(header: String, _ number: Int) -> String {
    func text(_ text: String) -> String { String(decoding: Base64.url.encode(Array(text.utf8)), as: UTF8.self) }
    let signature = String(decoding: Base64.url.encode([UInt8](repeating: 7, count: 64)), as: UTF8.self)
    return #"{"n":\#(number),"receipt":"\#(text(header)).\#(text(#"{"n":\#(number)}"#)).\#(signature)"}"#
  }

  /// Runs `body` while another transaction holds the rows that `lock` finds.
  private static func whileLocked(
    _ lock: SQL, _ fixture: ClaimFixture, _ body: () async throws -> Void
  ) async throws {
    try await fixture.pool.withConnection { blocker in
      try await blocker.read { session throws(DatabaseError) in
        try session.run("START TRANSACTION")
        let rows = try session.query(lock)
        #expect(!rows.isEmpty)
      }
      do { try await body() } catch {
        try await blocker.read { session throws(DatabaseError) in try session.run("ROLLBACK") }
        throw error
      }
      try await blocker.read { session throws(DatabaseError) in try session.run("ROLLBACK") }
    }
  }

  @Test func `does not touch the row of a header that is there`() async throws {
    try await ClaimFixture.with { fixture in
      let header = #"{"alg":"ES256","x5c":["\#(String(repeating: "A", count: 300))"]}"#
      let apple = Self.claim(fixture, of: "1", body: Self.body(header: header, 1), proof: .proven)
      #expect(try await fixture.ledger.append([apple]) == [.stored])
      // Another process, which has written nothing yet.
      let ledger = LedgerStore(pool: fixture.pool)
      try await Self.whileLocked("SELECT digest FROM headers FOR UPDATE", fixture) {
        for (number, proof) in [(2, TrustLevel.claimed), (3, .proven)] {
          let entry = Self.claim(fixture, of: "\(number)", body: Self.body(header: header, number), proof: proof)
          let appended = try await ledger.append(batch: [entry], limits: GroupCommit.Limits())
          #expect(appended == [.stored])
        }
      }
      let headers = try await fixture.pool.read { session throws(DatabaseError) in
        try session.query("SELECT COUNT(*) AS n FROM headers")[0].int("n")
      }
      #expect(headers == 1)
    }
  }

  @Test func `that waits for a row gives up soon, and the others of its batch are written`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, of: "1", period: 0, at: 0)
      let commit = GroupCommit(fixture.ledger)
      let running = Task { await commit.run() }
      defer { running.cancel() }
      try await Self.whileLocked("SELECT 1 FROM purchases FOR UPDATE", fixture) {
        let begin = ContinuousClock.now
        let (locked, free) = (Self.claim(fixture, of: "1", body: "1"), Self.claim(fixture, of: "2", body: "2"))
        await #expect(throws: DatabaseError(.lockWaitTimeout, "")) {
          try await fixture.ledger.append(batch: [locked, free], limits: GroupCommit.Limits())
        }
        let (late, passing) = (Task { try await commit.append(locked) }, Task { try await commit.append(free) })
        let stored = try await passing.value
        #expect(stored == .stored)
        await #expect(throws: GroupCommit.Failure.database(DatabaseError(.lockWaitTimeout, ""))) {
          try await late.value
        }
        // As long as everybody else, it would have waited for five seconds each time, and been tried again for fifteen.
        #expect(ContinuousClock.now - begin < .seconds(15))
      }
    }
  }

  @Test func `about a customer of whom Apple posts delays nobody else's notifications`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, of: "1", period: 0, at: 0)
      var limits = GroupCommit.Limits()
      (limits.batch, limits.lateAfter) = (1, .milliseconds(20))
      let commit = GroupCommit(fixture.ledger, limits: limits)
      let running = Task { await commit.run() }
      defer { running.cancel() }
      try await Self.whileLocked("SELECT 1 FROM purchases FOR UPDATE", fixture) {
        let waiting = Task { try await commit.append(Self.claim(fixture, of: "1", body: "1", proof: .proven)) }
        #expect(await eventually { commit.bytes == 1 && commit.depth == 0 })
        for number in 2...5 {
          let entry = Self.claim(fixture, of: "\(number)", body: "\(number)", proof: .proven)
          let appended = try await commit.append(entry)
          #expect(appended == .stored)
        }
        #expect(commit.bytes == 1, "the first still waits")
        waiting.cancel()
        // It is committed once the row is free.
      }
      #expect(await eventually { commit.bytes == 0 })
    }
  }
}
