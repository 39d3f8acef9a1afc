@testable import Ledger

@Suite struct `The quarantine` {
  private func message(_ number: Int, at date: Timestamp = SignedStory.start) -> InboxMessage {
    InboxMessage(kind: .notification, body: Array("body \(number)".utf8), receivedAt: date)
  }

  private func entry(
    _ message: InboxMessage, _ code: String = "unknownRoot", _ source: QuarantineSource = .unproven
  ) -> LedgerEntry {
    LedgerEntry(
      message,
      .quarantined(
        LedgerEntry.QuarantineReason(
          source: source, code: code, detail: String(repeating: "é", count: 600),
          claimedApp: String(repeating: "a", count: 300))))
  }

  @Test func `is read page by page, the oldest first, and narrowed by code or digest`() async throws {
    let fixture = try await LedgerFixture()
    let messages = (0..<10).map { message($0, at: SignedStory.start + .seconds(Int64($0 / 3))) }
    let entries = messages.enumerated().map { entry($1, $0.isMultiple(of: 2) ? "even" : "odd") }
    let outcomes = try await fixture.ledger.append(entries)
    #expect(outcomes == Array(repeating: .quarantined, count: 10))
    #expect(try await fixture.ledger.append([entries[0], entries[0]]) == [.quarantinedBefore, .quarantinedBefore])
    try await fixture.pool.read { session throws(DatabaseError) in
      var found: [InboxMessage] = []
      var last: (Timestamp, Digest)?
      while true {
        let page = try QuarantineTable.page(after: last, code: nil, digestPrefix: nil, limit: 3, in: session)
        guard let end = page.last else { break }
        #expect(page.count <= 3)
        found += page.map(\.message)
        last = (end.message.receivedAt, end.message.digest)
      }
      #expect(Set(found) == Set(messages) && found.count == 10)
      #expect(found.map(\.receivedAt) == found.map(\.receivedAt).sorted())
      #expect(try QuarantineTable.page(after: nil, code: "odd", digestPrefix: nil, limit: 9, in: session).count == 5)
      #expect(try QuarantineTable.page(after: nil, code: "'", digestPrefix: nil, limit: 9, in: session).isEmpty)
      let digest = messages[4].digest
      for count in [4, Digest.count] {
        let one = try QuarantineTable.page(
          after: nil, code: nil, digestPrefix: Array(digest.bytes.prefix(count)), limit: 9, in: session)
        #expect(one.map(\.message.digest) == [digest])
        #expect(one.first?.claimedApp.count == 255 && one.first?.source == "unproven" && one.first?.replays == 0)
      }
      let kept = QuarantineUsage(messages: 10, bytes: messages.reduce(0) { $0 + $1.body.count })
      #expect(try QuarantineTable.usage(in: session) == [.unproven: kept])
      #expect(try QuarantineTable.reasons(in: session).map(\.count) == [5, 5])
    }
    await fixture.pool.close()
  }

  @Test func `notes replays and lets go of what was accepted after all`() async throws {
    let fixture = try await LedgerFixture()
    let digest = message(1).digest
    _ = try await fixture.ledger.append([entry(message(1)), entry(message(2))])
    try await fixture.pool.read { session throws(DatabaseError) in
      try QuarantineTable.noteReplay(
        digest, LedgerEntry.QuarantineReason(source: .authentic, code: "wrongBundle", detail: "again", claimedApp: nil),
        in: session)
      let page = try QuarantineTable.page(after: nil, code: "wrongBundle", digestPrefix: nil, limit: 9, in: session)
      #expect(page.map(\.replays) == [1] && page.map(\.detail) == ["again"])
      try QuarantineTable.release([digest], in: session)
      try QuarantineTable.release([digest], in: session)
      #expect(try QuarantineTable.known([digest, message(2).digest], in: session) == [message(2).digest])
    }
    #expect(try await fixture.ledger.append([entry(message(1))]) == [.quarantined])
    await fixture.pool.close()
  }

  @Test func `that is full of forgeries still takes what waits for its app`() async throws {
    let fixture = try await LedgerFixture()
    let quota = QuarantineSource.unproven.quota.messages
    try await fixture.pool.read { session throws(DatabaseError) in
      _ = try session.execute(
        """
        INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
        SELECT UNHEX(SHA2(CONCAT('seed ', seq), 256)), seq, 'unproven', 'c', 'd', '', 1, 'b', 1
        FROM \(SQL.numbers(quota))
        """)
      try QuarantineUsageTable.recount(.unproven, in: session)
    }
    let outcomes = try await fixture.ledger.append([
      entry(message(1)), entry(message(2), "unknownApp", .authentic), entry(message(3), "legacy", .legacy),
    ])
    #expect(outcomes == [.quarantineFull, .quarantined, .quarantined])
    try await fixture.pool.read { session throws(DatabaseError) in
      let usage = try QuarantineTable.usage(in: session)
      #expect(usage.mapValues(\.messages) == [.unproven: quota, .authentic: 1, .legacy: 1])
    }
    await fixture.pool.close()
  }

  @Test(arguments: QuarantineSource.allCases)
  func `that one source has filled still takes what is of the others`(full: QuarantineSource) async throws {
    let fixture = try await LedgerFixture()
    let quota = full.quota(fromApple: true)
    try await fixture.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(
        """
        REPLACE INTO quarantine_usage (source, messages, bytes)
        VALUES (\(full.rawValue), \(quota.messages), \(quota.bytes))
        """)
    }
    let sources = QuarantineSource.allCases
    let outcomes = try await LedgerStore(pool: fixture.pool).append(
      sources.enumerated().map { entry(message($0), "c", $1) })
    #expect(outcomes == sources.map { $0 == full ? .quarantineFull : .quarantined })
    await fixture.pool.close()
  }

  /// A V1 notification with a secret that is not registered yet is of the same source as what strangers make up.
  @Test(arguments: [QuarantineSource.legacy, .unproven])
  func `that strangers have filled keeps and forwards as much again from Apple's networks`(
    source: QuarantineSource
  ) async throws {
    let fixture = try await OutboxFixture()
    func entry(_ text: String, fromApple: Bool) -> LedgerEntry {
      var entry = fixture.refused(text)
      entry.content = .quarantined(LedgerEntry.QuarantineReason(source: source, code: "c", detail: "", claimedApp: nil))
      entry.isFromApple = fromApple
      return entry
    }
    /// A ledger that finds so much in quarantine.
    func filled(_ kept: QuarantineUsage) async throws -> LedgerStore {
      try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          """
          REPLACE INTO quarantine_usage (source, messages, bytes)
          VALUES (\(source.rawValue), \(kept.messages), \(kept.bytes))
          """)
      }
      return LedgerStore(pool: fixture.pool)
    }
    let (quota, all) = (source.quota(fromApple: false), source.quota(fromApple: true))
    #expect(all == QuarantineUsage(messages: 2 * quota.messages, bytes: 2 * quota.bytes))

    var ledger = try await filled(QuarantineUsage(messages: quota.messages - 1, bytes: 1))
    #expect(try await ledger.append([entry("stranger 0", fromApple: false)]) == [.quarantined])
    #expect(try await ledger.append([entry("stranger 1", fromApple: false)]) == [.quarantineFull])
    let mixed = try await ledger.append([
      entry("stranger 1", fromApple: false), entry("both", fromApple: false), entry("Apple 1", fromApple: true),
      entry("both", fromApple: true), entry("stranger 1", fromApple: false),
    ])
    #expect(mixed == [.quarantineFull, .quarantinedBefore, .quarantined, .quarantined, .quarantineFull])
    #expect(Set(try await fixture.texts()) == ["stranger 0", "Apple 1", "both"])

    ledger = try await filled(QuarantineUsage(messages: 1, bytes: quota.bytes))
    let byBytes = try await ledger.append([entry("stranger 2", fromApple: false), entry("Apple 2", fromApple: true)])
    #expect(byBytes == [.quarantineFull, .quarantined])
    ledger = try await filled(QuarantineUsage(messages: all.messages - 1, bytes: 1))
    #expect(try await ledger.append([entry("Apple 3", fromApple: true)]) == [.quarantined])
    #expect(try await ledger.append([entry("Apple 4", fromApple: true)]) == [.quarantineFull])
    #expect(Set(try await fixture.texts()) == ["Apple 2", "Apple 3"])
    await fixture.pool.close()
  }

  /// A replay with other roots says more of them than of the message.
  @Test func `keeps the reason of what was proven when a replay could not prove it`() async throws {
    let fixture = try await LedgerFixture()
    _ = try await fixture.ledger.append([entry(message(1), "unknownApp", .authentic)])
    let digest = message(1).digest
    try await fixture.pool.read { session throws(DatabaseError) in
      try QuarantineTable.noteReplay(
        digest, LedgerEntry.QuarantineReason(source: .unproven, code: "unknownRoot", detail: "", claimedApp: nil),
        in: session)
      let page = try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 9, in: session)
      #expect(page.map(\.code) == ["unknownApp"] && page.map(\.replays) == [1])
    }
    await fixture.pool.close()
  }

  @Test func `counts what it keeps, however it comes and goes`() async throws {
    let fixture = try await LedgerFixture()
    let messages = (0..<9).map { message($0) }
    let entries = messages.enumerated().map { entry($1, "c", $0 < 5 ? .unproven : .authentic) }
    _ = try await fixture.ledger.append(entries)
    _ = try await fixture.ledger.append(entries + [entry(messages[0])])
    func counts() async throws -> [QuarantineSource: QuarantineUsage] {
      try await fixture.pool.read { session throws(DatabaseError) in
        let counted = try QuarantineTable.usage(in: session)
        for source in QuarantineSource.allCases { try QuarantineUsageTable.recount(source, in: session) }
        #expect(try QuarantineTable.usage(in: session) == counted, "counted anew")
        return counted
      }
    }
    #expect(try await counts().mapValues(\.messages) == [.unproven: 5, .authentic: 4])
    try await fixture.pool.transaction { session throws(DatabaseError) in
      try QuarantineTable.release([messages[0].digest, messages[8].digest, messages[0].digest], in: session)
    }
    #expect(try await counts().mapValues(\.messages) == [.unproven: 4, .authentic: 3])
    try await fixture.pool.transaction { session throws(DatabaseError) in
      let late = SignedStory.start + .days(1)
      #expect(try QuarantineTable.purge(receivedBefore: late, code: nil, limit: 9, in: session) == 7)
    }
    #expect(try await counts() == [:])
    await fixture.pool.close()
  }

  /// A binary of schema 2 writes rows and no count.
  @Test func `counts anew what was set aside or deleted without being counted`() async throws {
    let fixture = try await LedgerFixture()
    _ = try await fixture.ledger.append((0..<4).map { entry(message($0), "c", .legacy) })
    try await fixture.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute("DELETE FROM quarantine LIMIT 1")
      _ = try session.execute("UPDATE quarantine SET source = 'authentic' LIMIT 1")
    }
    try await QuarantineUsageTable.recount(in: fixture.pool)
    let usage = try await fixture.pool.read { session throws(DatabaseError) in
      try QuarantineTable.usage(in: session)
    }
    #expect(usage.mapValues(\.messages) == [.legacy: 2, .authentic: 1])
    #expect(usage[.authentic]?.bytes == message(0).body.count)
    await fixture.pool.close()
  }

  @Test func `counts right beside others who write and purge it`() async throws {
    let fixture = try await LedgerFixture()
    let others = [fixture.ledger, LedgerStore(pool: fixture.pool), LedgerStore(pool: fixture.pool)]
    try await withThrowingDiscardingTaskGroup { group in
      for (index, ledger) in others.enumerated() {
        group.addTask {
          for number in 0..<40 {
            _ = try await ledger.append((0..<4).map { entry(message(1_000 * index + 4 * number + $0)) })
          }
        }
      }
      group.addTask {
        for _ in 0..<40 {
          _ = try await fixture.pool.transaction(replayable: true) { session throws(DatabaseError) in
            try QuarantineTable.purge(
              receivedBefore: SignedStory.start + .days(1), code: nil, limit: 3, in: session)
          }
          try await QuarantineUsageTable.recount(in: fixture.pool)
        }
      }
    }
    try await fixture.pool.read { session throws(DatabaseError) in
      let usage = try QuarantineTable.usage(in: session)
      let kept = try session.query("SELECT COUNT(*) AS n FROM quarantine").first?.int("n")
      #expect(usage[.unproven]?.messages == kept && kept ?? 0 > 300)
    }
    await fixture.pool.close()
  }
}
