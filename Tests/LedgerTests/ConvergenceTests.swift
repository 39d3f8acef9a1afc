@Suite struct `The ledger` {
  @Test func `is the same whatever the order, repetition and concurrency of messages, and after a rebuild`()
    async throws
  {
    let story = try SignedStory(customers: 4, periods: 3)
    var random = SeededRandom()
    let seed = random.seed
    var dumps: [[String]] = []
    for round in 0..<4 {
      var configuration = try await PrivateMariaDB.shared.database()
      // The lanes wait for each other, however slow the machine is.
      configuration.lockWaitTimeout = .seconds(120)
      let fixture = try await LedgerFixture(configuration)
      let app = fixture.app
      var messages = story.messages
      if round > 0 {
        messages += (0..<10).compactMap { _ in story.messages.randomElement(using: &random) }
        messages.shuffle(using: &random)
      }
      let lanes = round == 3 ? 4 : 1
      let shares = (0..<lanes).map { lane in messages.enumerated().filter { $0.offset % lanes == lane }.map(\.element) }
      let sizes = (0..<lanes).map { _ in Int.random(in: 1...9, using: &random) }
      try await withThrowingDiscardingTaskGroup { group in
        for (share, size) in zip(shares, sizes) {
          group.addTask {
            for start in stride(from: 0, to: share.count, by: size) {
              let batch = try share[start..<min(start + size, share.count)].map { try story.entry($0, for: app) }
              _ = try await fixture.ledger.append(batch)
            }
          }
        }
      }
      dumps.append(try await fixture.dump())
      try await fixture.expectUserIDs(8 + 8, "round \(round), seed \(seed)")
      if round == 3 {
        let rebuild = Rebuild(fixture.configuration, .ofTests) { stored in try story.reading(stored.message).findings }
        let summary = try await rebuild.run(now: SignedStory.start + .days(365))
        #expect(summary.messages == story.messages.count)
        dumps.append(try await fixture.dump())
        try await fixture.expectUserIDs(8 + 8, "after a rebuild, seed \(seed)")
      }
      await fixture.pool.close()
    }
    #expect(dumps[0].count > 60)
    for (index, dump) in dumps.enumerated() { #expect(dump == dumps[0], "round \(index), seed \(seed)") }
  }
}

/// An empty ledger with one app in a database of its own.
struct LedgerFixture {
  let configuration: DatabaseConfiguration
  let pool: Pool
  let ledger: LedgerStore
  let app: App

  init(on server: PrivateMariaDB = .shared) async throws {
    try await self.init(try await server.database())
  }

  /// In a database that is empty.
  init(_ configuration: DatabaseConfiguration) async throws {
    self.configuration = configuration
    pool = Pool(configuration)
    ledger = LedgerStore(pool: pool)
    app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: SignedStory.start, in: session)
      return try AppTable.add(bundleID: SignedStory.app, appAppleID: nil, at: SignedStory.start, in: session)
    }
  }

  /// One that was made before.
  init(again configuration: DatabaseConfiguration) async throws {
    self.configuration = configuration
    pool = Pool(configuration)
    ledger = LedgerStore(pool: pool)
    app = try #require(try await pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first })
  }

  func dump() async throws -> [String] {
    try await pool.read { session throws(DatabaseError) in
      var lines: [String] = []
      try CanonicalDump.write(from: session) { lines.append(String(decoding: $0.encoded(), as: UTF8.self)) }
      return lines
    }
  }

  /// `user_ids` is what the attributions say of user ids, no more and no less; no dump tells of it.
  func expectUserIDs(_ count: Int, _ comment: Comment) async throws {
    let (said, kept) = try await pool.read { session throws(DatabaseError) in
      let said = try session.query(
        """
        SELECT DISTINCT app, environment, value AS user_id, original_transaction_id FROM attributions WHERE kind = 2
        ORDER BY app, environment, user_id, original_transaction_id
        """)
      let kept = try session.query(
        """
        SELECT app, environment, user_id, original_transaction_id FROM user_ids
        ORDER BY app, environment, user_id, original_transaction_id
        """)
      return (said.map(\.values), kept.map(\.values))
    }
    #expect(said == kept, comment)
    #expect(kept.count == count, comment)
  }
}

@Suite struct `A batch` {
  @Test(arguments: [true, false])
  func `accepts a body that it also refuses, whatever the order`(acceptedFirst: Bool) async throws {
    let story = try SignedStory(customers: 1, periods: 1)
    let fixture = try await LedgerFixture()
    let message = story.messages[0]
    let accepted = try story.entry(message, for: fixture.app)
    let refusal = LedgerEntry.QuarantineReason(source: .authentic, code: "unknownApp", detail: "", claimedApp: nil)
    let refused = LedgerEntry(message, .quarantined(refusal))
    let outcomes = try await fixture.ledger.append(acceptedFirst ? [accepted, refused] : [refused, accepted])
    #expect(outcomes[acceptedFirst ? 0 : 1] == .stored)
    let rows = try await fixture.pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS count FROM purchases")
    }
    let count = try rows[0].int("count")
    #expect(count == 1)
    await fixture.pool.close()
  }

  @Test func `keeps ids apart that differ in their bytes alone`() async throws {
    let fixture = try await LedgerFixture()
    let key = PurchaseKey(
      app: SignedStory.app, environment: .sandbox, originalTransactionID: "1", line: Line(text: ""))
    let ids = ["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"]
    var findings = Findings(app: SignedStory.app, environment: .sandbox)
    for (hour, id) in ids.enumerated() {
      findings.furtherAliases.append(Alias(orderID: id, of: key, asOf: SignedStory.start + .hours(Int64(hour))))
    }
    let message = InboxMessage(kind: .evidence, body: Array("two spellings".utf8), receivedAt: SignedStory.start)
    let acceptance = LedgerEntry.AcceptedMessage(app: fixture.app.id, findings: findings, signedAt: nil, title: "")
    let outcomes = try await fixture.ledger.append([LedgerEntry(message, .accepted(acceptance))])
    #expect(outcomes == [.stored])
    let rows = try await fixture.pool.read { session throws(DatabaseError) in
      try session.query("SELECT HEX(alias) AS alias, last_as_of - first_as_of AS span FROM aliases ORDER BY alias")
    }
    #expect(try rows.map { try $0.text("alias") } == ["63616665CC81", "636166C3A9"])
    #expect(try rows.map { try $0.int("span") } == [0, 7_200_000])
    await fixture.pool.close()
  }
}
