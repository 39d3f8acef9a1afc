@Suite struct `An operation on kept messages` {
  private let now = Operated.now
  private let kim = Operated.kim
  private let clock = WallClock.fixed(at: Operated.now)

  /// One dead and two waiting.
  private func withOutbox() async throws -> Operated {
    let here = try await Operated()
    let scope = AppScope(app: here.app.id, environment: .sandbox)
    try await here.connection.transaction { [now] session throws(DatabaseError) in
      try DestinationTable.setLegacy("https://old.example.com/", of: scope, at: now, in: session)
    }
    for (text, state) in [("a", 2), ("b", 0), ("c", 0)] {
      try await here.execute(
        """
        INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
        SELECT id, \(Digest.sha256(Array(text.utf8)).bytes), \(state), \(now - .hours(2)), 1, 1 FROM destinations
        """)
    }
    return here
  }

  @Test func `sends what is dead again`() async throws {
    let here = try await withOutbox()
    let replay = ReplayOrGiveUp(.replay)
    let change = try await here.expect("outbox.replay outbox --all: 1 messages: ticket 4") {
      try await replay.plan(clock: clock, on: here.connection)
    } apply: { count in
      #expect(count == 1)
      return try await replay.apply(by: kim, clock: clock, on: here.connection)
    }
    #expect(change.changed == 1 && change.withoutRoom == 0)
    let before = try await here.contents()
    #expect(try await replay.apply(by: kim, clock: clock, on: here.connection).changed == 0)
    #expect(try await here.contents() == before)
  }

  @Test func `gives up what waits and is meant`() async throws {
    let here = try await withOutbox()
    let prefix = try #require(DigestPrefix(String(Digest.sha256(Array("b".utf8)).hex.prefix(7))))
    let one = ReplayOrGiveUp(.giveUp, app: Operated.bundleID, prefix: prefix)
    _ = try await here.expect("outbox.dead outbox \(prefix.text): 1 messages: ticket 4") {
      try await one.plan(clock: clock, on: here.connection)
    } apply: { count in
      #expect(count == 1)
      return try await one.apply(by: kim, clock: clock, on: here.connection)
    }
    try await here.expectRefusal(NoSuchMessage.self) { _ = try await one.plan(clock: clock, on: here.connection) }
    try await here.expectRefusal(NoSuchMessage.self) {
      _ = try await one.apply(by: kim, clock: clock, on: here.connection)
    }
    var filter = OutboxFilter()
    filter.newerThan = .hours(1)
    #expect(try await ReplayOrGiveUp(.giveUp, filter: filter).plan(clock: clock, on: here.connection) == 0)
    (filter.newerThan, filter.olderThan) = (nil, .hours(1))
    let old = ReplayOrGiveUp(.giveUp, .sandbox, filter: filter)
    _ = try await here.expect("outbox.dead outbox older than 1h: 1 messages: ticket 4") {
      try await old.plan(clock: clock, on: here.connection)
    } apply: { _ in
      try await old.apply(by: kim, clock: clock, on: here.connection)
    }
    try await here.expectRefusal(NoSuchApp.self) {
      _ = try await ReplayOrGiveUp(.giveUp, app: "com.example.none").plan(clock: clock, on: here.connection)
    }
  }

  private func withQuarantine(_ count: Int) async throws -> Operated {
    let here = try await Operated()
    let pool = Pool(here.configuration)
    let refusal = LedgerEntry.QuarantineReason(
      source: .unproven, code: "notJSON", detail: "for a test", claimedApp: nil)
    let entries = (1...count).map { number in
      LedgerEntry(
        InboxMessage(kind: .notification, body: Array("\(number)".utf8), receivedAt: Timestamp(Int64(number))),
        .quarantined(refusal))
    }
    _ = try await LedgerStore(pool: pool).append(entries)
    await pool.close()
    return here
  }

  @Test func `purges the quarantine of one code`() async throws {
    let here = try await withQuarantine(3)
    let purge = PurgeQuarantine(receivedBefore: Timestamp(3), code: "notJSON")
    let count = try await here.expect("quarantine.purge quarantine 2 of notJSON: ticket 4") {
      try await purge.plan(on: here.connection)
    } apply: { count in
      #expect(count == 2)
      return try await purge.apply(by: kim, at: now, on: here.connection)
    }
    #expect(count == 2)
    #expect(try await purge.plan(on: here.connection) == 0)
  }

  @Test func `purges in steps, with one entry of all`() async throws {
    let here = try await withQuarantine(1_000)
    let purge = PurgeQuarantine(receivedBefore: now)
    #expect(try await purge.apply(by: kim, at: now, on: here.connection) == 1_000)
    #expect(try await here.audit() == ["quarantine.purge quarantine 1000 of any code: ticket 4"])
  }

  @Test(arguments: [3, 200, 201]) func `replays the quarantine, with one entry of all`(count: Int) async throws {
    let here = try await withQuarantine(count)
    let pool = Pool(here.configuration)
    let intake = IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple)))
    let replay = ReplayQuarantine(.code("notJSON"), readBy: intake, .ofTests, into: LedgerStore(pool: pool))
    var told = 0
    let before = try await here.contents()
    let plan = try await replay.plan(at: now, on: here.connection) { _, _ in told += 1 }
    #expect(plan.refused == count && told == count)
    #expect(try await here.contents() == before)
    let summary = try await replay.apply(by: kim, clock: clock, on: here.connection) { _, fate in
      guard case .stays(_, _, isForwarded: false) = fate else { return }
      told += 1
    }
    #expect(summary == plan && told == 2 * count)
    #expect(
      try await here.audit() == [
        "quarantine.replay quarantine --code notJSON: 0 accepted, \(count) stay: ticket 4"
      ])
    let none = ReplayQuarantine(
      .digest(try #require(DigestPrefix("0000000000"))), readBy: intake, .ofTests, into: LedgerStore(pool: pool))
    try await here.expectRefusal(NoSuchMessage.self) {
      _ = try await none.apply(by: kim, clock: clock, on: here.connection) { _, _ in }
    }
    await pool.close()
  }

  @Test func `notes a replay of one page in the transaction of its change`() async throws {
    let here = try await withQuarantine(3)
    let pool = Pool(here.configuration)
    let intake = IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple)))
    let replay = ReplayQuarantine(.all, readBy: intake, .ofTests, into: LedgerStore(pool: pool))
    _ = try await here.expect("quarantine.replay quarantine --all: 0 accepted, 3 stay: ticket 4") {
      try await replay.plan(at: now, on: here.connection) { _, _ in }
    } apply: { _ in
      try await replay.apply(by: kim, clock: clock, on: here.connection) { _, _ in }
    }
    await pool.close()
  }
}
