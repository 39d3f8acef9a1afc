@Suite struct `switchyard doctor` {
  private func level(_ name: String, _ outcome: Program.Outcome) throws -> [String?] {
    let checks = try outcome.objects.first?["checks"]?.array ?? []
    return checks.compactMap(\.object).filter { $0["name"]?.string == name }.map { $0["level"]?.string }
  }

  @Test func `finds nothing to fail in a new directory, and makes nothing there`() async throws {
    let place = TemporaryDirectory()
    let outcome = try await Program(options: ["--data-dir", "\(place.path)/data"], runsProcesses: true).run(
      "doctor", "--json")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try level("database", outcome) == ["warn"])
    #expect(try level("root", outcome) == ["ok"])
    #expect(Files.names(in: place.path).isEmpty)
  }

  @Test func `says what each app and each refusal needs`() async throws {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", "com.example.switch")
    _ = try await database.quarantine([1, 2, 3], code: "unknownApp", receivedAt: 1)
    let outcome = try await database.program.run("doctor", "--json")
    // The tests' server does not flush each commit.
    #expect(try level("durability", outcome) == ["fail"])
    #expect(outcome.status == 1)
    #expect(try level("database", outcome) == ["ok"])
    #expect(try level("schema", outcome) == ["ok"])
    #expect(try level("clock", outcome) == ["ok"])
    #expect(try level("app", outcome) == ["warn", "warn"])
    #expect(try level("quarantine", outcome) == ["warn"])
    let text = try await database.program.run("doctor")
    #expect(text.output.contains("switchyard quarantine replay --code unknownApp"), "\(text)")
  }

  @Test func `fails where no service runs, nobody carries a migration out, and Apple does not let an app in`()
    async throws
  {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", "com.example.switch")
    #expect(try level("service", await database.program.run("doctor", "--json")) == ["fail"])
    let now = WallClock.system.now()
    let connection = try await Connection.open(database.configuration)
    try await connection.transaction { session throws(DatabaseError) in
      let running = ProcessTable.Service(process: [UInt8](repeating: 1, count: 16), name: "web-1:7")
      try ProcessTable.note(running, mark: 1, in: session)
      _ = try MigrationJobTable.add(
        [.init(source: "{}", size: nil)], app: nil, environment: nil, settings: MigrationSettings(), by: "kim",
        at: now - .hours(1), in: session)
      let scope = AppScope(app: App.ID(1), environment: .production)
      try HistoryJobTable.askAgain(["1"], in: scope, unlessDoneSince: now, at: now, in: session)
      _ = try session.execute("UPDATE work SET reason = \("\(HistoryJobTable.closedDoor): unauthorized 401")")
      let calls = AnswerTimeTable.Key(.apple, in: scope, took: nil, at: now)
      try AnswerTimeTable.add([calls: 12], in: session)
    }
    await connection.close()
    let outcome = try await database.program.run("doctor", "--json")
    #expect(try level("service", outcome) == ["ok"])
    #expect(try level("migration", outcome) == ["fail"])
    #expect(try level("api key", outcome).contains("fail"))
    #expect(try level("apple", outcome) == ["fail"])
    let text = try await database.program.run("doctor").output
    #expect(text.contains("migrate resume 1 --here"), "\(text)")
    #expect(text.contains("switchyard api check --app com.example.switch"))
  }

  @Test func `warns of an app without a legacy URL or an API key, until it has both`() async throws {
    let (database, app) = (try await TestDatabase.migrated(), "com.example.switch")
    let program = database.program
    let added = try await program.run("app", "add", app)
    #expect(added.notes.contains("next: `switchyard app legacy-url \(app) URL --environment Production`"), "\(added)")
    let bare = try await program.run("doctor", "--json")
    #expect(try level("forwarding", bare) == ["warn", "warn"])
    #expect(try level("api key", bare) == ["warn"])
    let text = try await program.run("doctor").output
    #expect(text.contains("`switchyard app legacy-url \(app) URL --environment Production`"), "\(text)")
    #expect(text.contains("`switchyard app add \(app) --key-file FILE --key-id ID --issuer ID`"))

    let forward = ["app", "legacy-url", app, "http://127.0.0.1:1/apple", "--environment"]
    #expect(try await program.run(forward + ["Production"]).status == 0)
    #expect(try level("forwarding", await program.run("doctor", "--json")) == ["warn"])
    #expect(try await program.run(forward + ["Sandbox"]).status == 0)
    let key = database.place.file("key.p8", try SigningKeyFile.pem())
    #expect(
      try await program.run("app", "add", app, "--key-file", key, "--key-id", "K", "--issuer", "I").status == 0)
    #expect(try level("shared secret", bare) == [], "nothing is forwarded yet")
    #expect(try level("shared secret", await program.run("doctor", "--json")) == ["warn"])
    let secret = database.place.file("secret", Array(String(repeating: "5", count: 32).utf8))
    #expect(try await program.run("app", "secret", app, "--shared-secret-file", secret).status == 0)
    let whole = try await program.run("doctor", "--json")
    for name in ["forwarding", "shared secret", "api key"] { #expect(try level(name, whole) == [], "\(name)") }
    // Turned off, it is missing again; an app that was removed needs nothing.
    #expect(try await program.run("app", "legacy-url", app, "off", "--environment", "Production").status == 0)
    #expect(try level("forwarding", await program.run("doctor", "--json")) == ["warn"])
    #expect(try await program.run("app", "remove", app, "--yes").status == 0)
    #expect(try level("forwarding", await program.run("doctor", "--json")) == [])
  }

  @Test func `warns of an old back end that takes nothing, and of what was given up`() async throws {
    let (database, app) = (try await TestDatabase.migrated(), "com.example.switch")
    let (program, now) = (database.program, WallClock.system.now().sinceEpoch)
    _ = try await program.run("app", "add", app)
    _ = try await program.run("app", "legacy-url", app, "http://127.0.0.1:1/apple", "--environment", "Production")
    #expect(try level("outbox", await program.run("doctor", "--json")) == [])
    for (state, number) in [(0, 1), (0, 2), (2, 3)] {
      try await database.execute(
        """
        INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
        SELECT id, \([UInt8](repeating: UInt8(number), count: 32)), \(state), \(now - 3_600_000), 1, 1 FROM destinations
        """)
    }
    let text = try await program.run("doctor").output
    #expect(text.contains("2 messages wait for the destination of \(app) Production, the oldest since"), "\(text)")
    #expect(text.contains("1 messages for the destination of \(app) Production were given up"))
    #expect(text.contains("`switchyard outbox replay`"))
    #expect(try level("outbox", await program.run("doctor", "--json")) == ["warn", "warn"])
  }

  @Test func `says which ids failed, which requests went by, and that a lost master key is not made anew`() async throws
  {
    let (database, now) = (try await TestDatabase.migrated(), WallClock.system.now())
    let program = database.program
    let key = database.place.file("key.p8", try SigningKeyFile.pem())
    _ = try await program.run(
      "app", "add", "com.example.switch", "--key-file", key, "--key-id", "K", "--issuer", "I")
    #expect(try level("credentials", await program.run("doctor", "--json")) == [])
    #expect(try level("seeds", await program.run("doctor", "--json")) == [])
    try await database.execute(
      """
      INSERT INTO work (app, environment, kind, subject, state, reason, created_at, due_at)
      SELECT id, 1, 1, '2000000000000001', 3, 'for a test', \(now), \(now) FROM apps
      """)
    for (id, state, askedAt) in [("a", 3, now), ("b", 4, now), ("old", 3, now - .days(8))] {
      try await database.execute(
        """
        INSERT INTO consumption_requests (app, environment, id, transaction_id, original_transaction_id, asked_at,
          deadline, message, state, due_at)
        SELECT id, 1, \(id), '1', '1', \(askedAt), \(askedAt), \([UInt8](repeating: 1, count: 32)), \(state),
          \(askedAt) FROM apps
        """)
    }
    let text = try await program.run("doctor")
    #expect(text.output.contains("1 ids of com.example.switch Production failed: for a test"), "\(text)")
    #expect(text.output.contains("switchyard seeds retry com.example.switch"))
    #expect(text.output.contains("1 requests of the last 7 days ended without an answer"))
    #expect(text.output.contains("1 requests of the last 7 days had an answer that Apple refused"))
    #expect(try level("consumption", await program.run("doctor", "--json")) == ["warn", "warn"])
    unsafe unlink("\(database.place.path)/data/master.key")
    let lost = try await program.run("doctor", "--json")
    #expect(try level("credentials", lost) == ["fail"], "\(lost)")
    #expect(Files.contents(of: "\(database.place.path)/data/master.key", limit: 100) == nil)
  }

  @Test func `says what is not watched, and fails for a heartbeat that is lost alone`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", "com.example.switch")
    for (environment, lost, reason) in [
      (1, nil, "Apple sends Notifications V1 there, which have no TEST"), (2, 5, "Apple says TIMED_OUT"),
    ] as [(Int, Int64?, String)] {
      let returned: Int64? = lost == nil ? 1 : nil
      try await database.execute(
        """
        INSERT INTO heartbeats (app, environment, asked_at, due_by, returned_at, lost_since, failure)
        SELECT id, \(environment), 1, 1, \(returned), \(lost), \(reason) FROM apps
        """)
    }
    #expect(try level("heartbeat", await program.run("doctor", "--json")) == ["ok", "fail"])
    let text = try await program.run("doctor")
    #expect(
      text.output.contains("com.example.switch Production: not watched") && text.output.contains("Notifications V1"),
      "\(text)")
  }

  @Test func `fails for a master key that others may open, and for a directory that others may write`() async throws {
    let place = TemporaryDirectory()
    let program = Program(options: ["--data-dir", place.path], runsProcesses: true)
    let key = place.file("master.key", Array(String(repeating: "ab", count: 32).utf8), mode: 0o600)
    #expect(try level("master key", await program.run("doctor", "--json")) == ["ok"])
    unsafe chmod(key, 0o644)
    unsafe chmod(place.path, 0o777)
    let outcome = try await program.run("doctor", "--json")
    #expect(outcome.status == 1)
    #expect(try level("master key", outcome) == ["fail"])
    #expect(try level("data directory", outcome) == ["fail"])
  }

  @Test func `tells when the server does not answer, and when a root is trusted for Production`() async throws {
    let place = TemporaryDirectory()
    let root = try SignedFixtures().root(in: place)
    let outcome = try await Program(options: ["--data-dir", "\(place.path)/data"], runsProcesses: true).run(
      "doctor", "--json", "--database", "mysql://nobody@127.0.0.1:1/none", "--trust-root", root,
      "--trust-root", "Production", "--i-know-this-root-can-make-purchases-count")
    #expect(outcome.status == 1)
    #expect(try level("database", outcome) == ["fail"])
    #expect(try level("root", outcome) == ["ok", "ok", "warn"])
  }
}
