@Suite struct `switchyard quarantine` {
  private let fixtures: SignedFixtures

  init() throws { fixtures = try SignedFixtures() }

  @Test func `replays what is accepted today, keeps the rest, and can be rebuilt from`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    let trust = ["--trust-root", fixtures.root(in: place)]
    let body = try fixtures.body(fixtures.notification())
    let good = try await database.quarantine(body, code: "unknownApp", receivedAt: SignedFixtures.signedAt + 1)
    var broken = body
    broken.replaceSubrange(body.count - 10..<body.count - 6, with: Array("AAAA".utf8))
    let bad = try await database.quarantine(broken, code: "badSignature", receivedAt: SignedFixtures.signedAt + 2)

    let listed = try await program.run("quarantine", "list", "--json")
    #expect(try listed.objects.map { $0["digest"] } == [.string(good), .string(bad)])
    #expect(try await program.run("quarantine", "list", "--code", "badSignature", "--json").objects.count == 1)
    let shown = try await program.run("quarantine", "list", String(good.prefix(9)))
    #expect(Array(shown.output.utf8) == body + [10])

    // Nobody has registered the app, and no root is trusted: nothing moves.
    #expect(try await program.run(["quarantine", "replay", "--all"] + trust).status == 3)
    _ = try await program.run("app", "add", SignedFixtures.bundleID)
    #expect(try await program.run("quarantine", "replay", String(good.prefix(8))).status == 3)
    let dry = try await program.run(["quarantine", "replay", "--all", "--dry-run", "--json"] + trust)
    #expect(dry.status == 3)
    #expect(try dry.objects.map { $0["accepted"] } == [true, false])
    #expect(try await program.run("inbox", "show", "--json").output == "")

    let replayed = try await program.run(["quarantine", "replay", "--all", "--json"] + trust)
    #expect(replayed.status == 3, "\(replayed)")
    #expect(try replayed.objects.last?["error"]?.object?["code"] == "badSignature")
    #expect(try await program.run(["quarantine", "replay", String(good.prefix(8))] + trust).status == 1)
    let left = try await program.run("quarantine", "list", "--json").objects
    #expect(left.map { $0["digest"] } == [.string(bad)])
    #expect(left.first?["replays"] == 2)

    let stored = try #require(
      try await program.run("inbox", "show", String(good.prefix(12)), "--json", "--bodies").objects.first)
    #expect(stored["title"] == "SUBSCRIBED/INITIAL_BUY")
    #expect(stored["app"] == .string(SignedFixtures.bundleID))
    #expect(stored["body"] == .string(String(decoding: body, as: UTF8.self)))
    #expect(try await program.run("inbox", "show", "ffffffff").status == 1)
    try await rebuild(database, trust)
    try await purge(program)
  }

  /// Apple's answers about old purchases name no environment: it was asked in one, and that one is remembered.
  @Test(arguments: [true, false])
  func `replays an answer of the App Store Server API that names no environment`(hasClaim: Bool) async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    _ = try await program.run("app", "add", SignedFixtures.bundleID)
    var old = fixtures.transaction
    old["environment"] = nil
    let body = (["signedTransactions": [.string(try fixtures.jws(old))]] as JSONObject).encoded()
    // The root is not trusted yet: what Apple answered is set aside.
    let pool = Pool(database.configuration)
    let app = try #require(
      try await pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first })
    let answers = APIResponseRecorder(
      intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple))),
      clock: .fixed(at: Timestamp(SignedFixtures.signedAt + 1)),
      logger: Logger(label: "test", level: .error, handler: RecordingLogHandler())
    ) { try await LedgerStore(pool: pool).append([$0]).first ?? .stored }
    let isRecorded = await answers.read(body, app, .sandbox).record()
    #expect(isRecorded)
    await pool.close()
    // As builds before this one left it.
    if !hasClaim { try await database.execute("DELETE FROM claims") }
    let kept = try await program.run("quarantine", "list", "--json").objects
    #expect(kept.map { $0["unconfirmedApp"] } == [.string(app.bundleID)])

    let trust = ["--trust-root", fixtures.root(in: place)]
    let replayed = try await program.run(["quarantine", "replay", "--all", "--json"] + trust)
    #expect(replayed.status == 0, "\(replayed)")
    let stored = try #require(try await program.run("inbox", "show", "--json").objects.first)
    #expect(stored["environment"] == "Sandbox")
    let equal = try await program.run(["db", "rebuild", "--dry-run", "--json"] + trust)
    #expect(equal.status == 0, "\(equal)")
    let dump = try await program.run("db", "dump").objects
    #expect(dump.first { $0["purchase"] != nil }?["environment"] == "Sandbox")
  }

  @Test func `forwards what deny set aside when it is replayed, once`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    for words in [
      ["app", "add", app], ["app", "set", app, "--forward-unproven", "deny"],
      ["app", "legacy-url", app, "http://127.0.0.1:1/apple", "--environment", "Sandbox"],
    ] { #expect(try await program.run(words).status == 0, "\(words)") }
    let body: JSONObject = [
      "notification_type": "CANCEL", "bid": .string(app), "environment": "Sandbox", "password": "not registered",
    ]
    let digest = try await database.quarantine(body.encoded(), code: "noSharedSecret", receivedAt: 1_700_000_000_000)
    let dry = try await program.run("quarantine", "replay", "--all", "--dry-run")
    #expect(dry.status == 3 && dry.output.contains("stays"), "\(dry)")
    #expect(try await database.rows("SELECT 1 FROM outbox").isEmpty)
    let replayed = try await program.run("quarantine", "replay", "--all")
    #expect(replayed.status == 3 && replayed.output.contains("forwarded \(digest.prefix(12))"), "\(replayed)")
    #expect(replayed.notes.contains("0 accepted, 1 stay, 1 of them forwarded now"), "\(replayed)")
    let again = try await program.run("quarantine", "replay", "--all", "--json")
    #expect(try again.objects.first?["forwarded"] == false, "\(again)")
    let queued = try await database.rows("SELECT class FROM outbox")
    #expect(try queued.map { try $0.int("class") } == [3])
  }

  private func purge(_ program: Program) async throws {
    let words = ["quarantine", "purge", "--older-than", "0", "--json"]
    #expect(try await program.run(words).objects == [["messages": 1, "dryRun": true]])
    #expect(try await program.run(words + ["--code", "unknownApp"]).objects == [["messages": 0, "dryRun": true]])
    #expect(try await program.run(words + ["--yes"]).objects == [["messages": 1, "dryRun": false]])
    #expect(try await program.run("quarantine", "list", "--json").objects.isEmpty)
  }

  private func rebuild(_ database: TestDatabase, _ trust: [String]) async throws {
    let program = database.program
    let before = try await program.run("db", "dump")
    #expect(try before.objects.contains { $0["purchase"] == "2000000000000001" })
    let equal = try await program.run(["db", "rebuild", "--dry-run", "--json"] + trust)
    #expect(equal.status == 0, "\(equal)")
    #expect(try equal.objects.first?["isEqual"] == true)

    // Something is lost; the rebuild finds it and brings it back.
    try await database.execute("DELETE FROM purchases")
    try await database.execute("UPDATE renewals SET facts = '{}'")
    let damaged = try await program.run("db", "dump")
    let different = try await program.run(["db", "rebuild", "--dry-run"] + trust)
    #expect(different.status == 5, "\(different)")
    #expect(different.output.contains("1 lines would be gone, 2 new"))
    #expect(try await program.run("db", "dump").output == damaged.output)

    let refused = try await program.run("db", "rebuild")
    #expect(refused.status == 1)
    #expect(refused.notes.contains("nothing was changed") && refused.notes.contains("unknownRoot"), "\(refused)")
    #expect(try await program.run("db", "dump").output == damaged.output)
    let staging = try await database.rows("SHOW DATABASES LIKE '%\\_rebuild'")
    #expect(try !staging.contains { try $0.text(0) == "\(database.configuration.database ?? "")_rebuild" })

    let rebuilt = try await program.run(["db", "rebuild"] + trust)
    #expect(rebuilt.status == 0, "\(rebuilt)")
    #expect(try await program.run("db", "dump").output == before.output)
  }
}
