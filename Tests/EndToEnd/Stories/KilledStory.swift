/// A service that receives messages of both generations and forwards them, and is killed again and again.
@Suite struct KilledStory {
  private static let kills = 4
  /// Acknowledgments before each kill.
  private static let perLife = 60
  /// Messages that come out of quarantine while a rebuild runs.
  private static let quarantined = 15
  private static let receiptApp = "com.example.old"

  @Test func `keeps what it acknowledged, ends in the truth and forwards each message across kill -9`() async throws {
    var random = SeededRandom()
    let story = try MixedStory(
      customers: 6, days: 100, seed: random.seed, telling: .both, start: WallClock.system.now() - .days(101))
    let told = try await ToldService(story)
    let (database, program) = (told.database, told.program)
    let held = story.messages.filter(\.isSigned).shuffled(using: &random).prefix(Self.quarantined)
    let digests = Set(held.map(\.digest))
    let rest = story.messages.filter { !digests.contains($0.digest) }
    let messages = (rest + rest.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)
    let hanging = try SilentListener()

    var backlog = 0
    let acknowledged = try await Inbox.with { inbox, url in
      try await name(url + "/apple", "Sandbox", told)
      try await name("http://127.0.0.1:\(hanging.port)/apple", "Production", told)
      var (acknowledged, left) = ([MixedStory.Message](), messages)
      for life in 0..<Self.kills {
        let running = try await told.serve()
        let goal = Int.random(in: 1...min(Self.perLife, left.count / (Self.kills - life)), using: &random)
        let taken: [MixedStory.Message]
        (taken, left) = await told.tell(left, to: running, killingAfter: goal)
        acknowledged += taken
        await running.end(SIGKILL)
        // The leases of the outbox end after a minute.
        try await database.execute("UPDATE outbox SET due_at = created_at WHERE state = 0")
      }
      for message in held {
        _ = try await database.quarantine(message.body, code: "unknownApp", receivedAt: message.receivedAt.sinceEpoch)
      }
      try await quarantineReceipt(database)
      backlog = try await fillBacklog(database, for: hanging)
      acknowledged += try await tellDuringRebuild(told, left)
      let running = try await told.serve()
      let notified = Set((acknowledged + held).filter(\.isNotification).map(\.body))
      let isHeard = await eventually { notified.isSubset(of: inbox.bodies(at: "/apple")) }
      let missing = notified.subtracting(inbox.bodies(at: "/apple")).count
      #expect(isHeard, "seed \(random.seed): \(missing) of \(notified.count) were not forwarded")
      // The inbox counts a message again if its webhook-id differs.
      #expect(try await eventually { try await database.count("outbox WHERE state = 0") == backlog })
      #expect(inbox.posts.count == notified.count, "seed \(random.seed)")
      #expect(await running.end(SIGTERM) == 0, "\(running.notes)")
      return acknowledged
    }
    await told.end()
    #expect(try await database.waiting(for: hanging.port) == backlog && backlog > 50)
    hanging.close()

    let stored = Set(try await database.rows("SELECT digest FROM inbox").map { try $0.bytes("digest") })
    let promised = acknowledged.map(\.digest) + held.map { Digest.sha256($0.body) }
    let lost = promised.filter { !stored.contains($0.bytes) }
    #expect(lost.isEmpty, "seed \(random.seed): \(lost.count) of \(promised.count)")
    #expect(try await told.differences() == [], "seed \(random.seed)")
    try await expectRebuiltAlike(told)
    #expect(try await program.run(["db", "rebuild", "--dry-run"] + told.trust).status == 0)
  }

  private func name(_ url: String, _ environment: String, _ told: ToldService) async throws {
    let named = try await told.program.run(
      "app", "legacy-url", MixedStory.app, url, "--environment", environment)
    #expect(named.status == 0, "\(named)")
  }

  /// Adds all messages to the outbox of a server that never responds.
  private func fillBacklog(_ database: TestDatabase, for hanging: SilentListener) async throws -> Int {
    let (now, later) = (WallClock.system.now(), WallClock.system.now() + .days(3))
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
      SELECT d.id, i.digest, 0, \(now), \(now), \(later) FROM destinations d JOIN inbox i
      WHERE d.url LIKE \("%:\(hanging.port)/%")
      """)
    return try await database.waiting(for: hanging.port)
  }

  /// Quarantines a response to a receipt of iOS 6.
  ///
  /// Only its claim says that it is of the Sandbox.
  private func quarantineReceipt(_ database: TestDatabase) async throws {
    #expect(try await database.program.run("app", "add", Self.receiptApp).status == 0)
    let receipt: JSONObject = [
      "product_id": "coins", "transaction_id": "303", "original_transaction_id": "303", "quantity": "1",
      "purchase_date_ms": "1700000000000", "original_purchase_date_ms": "1700000000000",
      "bid": .string(Self.receiptApp),
    ]
    let body = (["status": 0, "receipt": .object(receipt)] as JSONObject).encoded()
    let message = InboxMessage(
      kind: .verifyReceiptAnswer, body: body, claim: SubmissionMetadata(environment: .sandbox),
      receivedAt: Timestamp(1_700_000_002_000))
    try await database.setAside(
      message, LedgerEntry.QuarantineReason(source: .legacy, code: "test", detail: "", claimedApp: Self.receiptApp))
  }

  /// Posts the rest while the ledger is rebuilt and the quarantine is replayed.
  private func tellDuringRebuild(
    _ told: ToldService, _ messages: [MixedStory.Message]
  ) async throws -> [MixedStory.Message] {
    let running = try await told.serve()
    let isSending = Atomic(true)
    async let rebuilds = rebuild(told) { isSending.load(ordering: .acquiring) }
    async let replay = told.program.run(["quarantine", "replay", "--all"] + told.trust)
    var (acknowledged, left) = ([MixedStory.Message](), messages)
    // Apple also sends a message again after a response of 503.
    for _ in 0..<20 where !left.isEmpty {
      let taken: [MixedStory.Message]
      (taken, left) = await told.tell(left, to: running)
      acknowledged += taken
    }
    let replayed = try await replay
    isSending.store(false, ordering: .releasing)
    let outcomes = try await rebuilds
    #expect(left.isEmpty, "\(left.count) messages were not acknowledged: \(running.notes)")
    #expect(replayed.status == 0, "\(replayed)")
    #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes)")
    #expect(await running.end(SIGTERM) == 0, "\(running.notes)")
    return acknowledged
  }

  private func rebuild(
    _ told: ToldService, while isSending: @Sendable () -> Bool
  ) async throws -> [Program.Outcome] {
    var outcomes: [Program.Outcome] = []
    repeat { outcomes.append(try await told.program.run(["db", "rebuild"] + told.trust)) } while isSending()
    return outcomes
  }

  /// A rebuild gives the same ledger, and also the IDs whose history is fetched.
  private func expectRebuiltAlike(_ told: ToldService) async throws {
    func seeds() async throws -> [String] {
      try await told.database.rows("SELECT * FROM seeds ORDER BY environment, transaction_id").map { row in
        "\(try row.text("transaction_id")) \(try row.int("kind")) \(try row.int64("first_seen_at")) "
          + "\(try row.bytes("message")) \(try row.optionalText("user_id") ?? "-")"
      }
    }
    let (dump, before) = (try await told.dump(), try await seeds())
    #expect(dump.contains { $0.contains(#""purchase":"303""#) && $0.contains(#""environment":"Sandbox""#) })
    #expect(dump.contains { $0.contains(#""userID":"user "#) }, "user IDs came with IDs")
    try await told.database.execute("DELETE FROM seeds")
    #expect(try await told.program.run(["db", "rebuild"] + told.trust).status == 0)
    let changes = try await told.dump().difference(from: dump)
    #expect(changes.isEmpty, "\(changes)")
    #expect(try await seeds() == before)
    #expect(!before.isEmpty)
  }
}
