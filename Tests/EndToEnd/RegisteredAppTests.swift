/// `switchyard api --app`: Apple asked as an app of the ledger, with what is sealed there.
@Suite struct `The api command of a registered app` {
  private static let app = "com.example.asked"

  /// A ledger with an app and its key, and the program told where Apple is.
  private struct Site {
    let database: TestDatabase
    let program: Program
  }

  private func registered(
    _ apple: RunningSimulator, _ key: [String]? = nil, app: String = app
  ) async throws -> Site {
    let database = try await TestDatabase.migrated()
    var program = database.program
    program.environment.merge(apple.environment) { $1 }
    let added = try await program.run(["app", "add", app] + (key ?? apple.key))
    try #require(added.status == 0, "\(added)")
    return Site(database: database, program: program)
  }

  private func world(_ body: (RunningSimulator) async throws -> Void) async throws {
    let arguments = ["--customers", "6", "--seed", "5", "--app", Self.app]
    try await RunningSimulator.with(arguments, in: TemporaryDirectory(), body)
  }

  @Test func `keeps what an order is, so that it is found by the invoice from then on`() async throws {
    try await world { apple in
      let site = try await registered(apple)
      let (database, program) = (site.database, site.program)
      let sold = try #require(try await apple.purchases(of: Self.app).first)
      let order = try #require(sold["orderId"]?.string)
      let original = try #require(sold["transaction"]?.object?["originalTransactionId"]?.string)
      let asking = ["--app", Self.app, "--environment", "Sandbox", "--trust-root", apple.root]

      #expect(try await program.run("explain", Self.app, order).status == 1)
      let shown = try await program.run(["api", "order", order] + asking)
      #expect(shown.status == 0 && shown.output.contains(original), "\(shown)")
      #expect(shown.notes.contains("kept: switchyard explain \(Self.app) \(order)"))
      let explained = try await program.run("explain", Self.app, order)
      #expect(explained.status == 0 && explained.output.contains(original), "\(explained)")
      let rows = try await database.rows("SELECT COUNT(*) AS n FROM purchases")
      #expect(try await program.run(["api", "order", order] + asking).status == 0)
      #expect(try await database.rows("SELECT COUNT(*) AS n FROM purchases").first?.int("n") == rows.first?.int("n"))

      let missing = try await program.run(["api", "order", "MNOSUCHORDER"] + asking)
      #expect(missing.status == 1 && missing.notes.contains("no such order"), "\(missing)")
      #expect(!missing.notes.contains("kept"))
      // What cannot be proven is neither shown nor kept.
      let foreign = try await program.run(["api", "order", order, "--app", Self.app, "--environment", "Sandbox"])
      #expect(foreign.status == 1 && foreign.notes.contains("not kept"), "\(foreign)")
    }
  }

  @Test func `finds an order in the sandbox when Production does not know it, as --help promises`() async throws {
    try await world { apple in
      let site = try await registered(apple)
      let program = site.program
      let sold = try #require(try await apple.purchases(of: Self.app).first)
      let order = try #require(sold["orderId"]?.string)
      let original = try #require(sold["transaction"]?.object?["originalTransactionId"]?.string)
      for named in [["--app", Self.app], []] {
        let shown = try await program.run(["api", "order", order, "--trust-root", apple.root] + named)
        #expect(shown.status == 0 && shown.output.contains(original), "\(shown)")
      }
      let missing = try await program.run("api", "order", "MNOSUCHORDER", "--app", Self.app, "--trust-root", apple.root)
      #expect(missing.status == 1 && missing.notes.contains("no such order"), "\(missing)")
      let elsewhere = try await program.run(
        "api", "order", "MNOSUCHORDER", "--app", Self.app, "--trust-root", apple.root, "--environment", "Production")
      #expect(elsewhere.notes.contains("no such order of this app in Production"), "\(elsewhere)")
    }
  }

  @Test func `queues the look-up of what it changed at Apple's, and notes an answer about consumption`() async throws {
    try await world { apple in
      let site = try await registered(apple)
      let (database, program) = (site.database, site.program)
      let all = try await apple.purchases(of: Self.app).compactMap { $0["transaction"]?.object }
      let sold = try #require(all.first { $0["type"] == "Auto-Renewable Subscription" })
      let id = try #require(sold["originalTransactionId"]?.string)
      let asking = ["--app", Self.app, "--environment", "Sandbox", "--trust-root", apple.root]
      let token = "appAccountToken=7e3fb20b-4cdb-47cc-936d-99d65f608138"
      let set = try await program.run(["api", "account-token", id, token] + asking)
      #expect(set.status == 0 && set.notes.contains("the lookup of \(id) is queued"), "\(set)")
      let work = try await database.rows("SELECT state, is_again FROM work WHERE subject = \(id)")
      #expect(try work.map { try $0.int("state") } == [0])
      // Nothing is called queued when the command knows no ledger.
      let bare = try await program.run(["api", "account-token", id, token] + asking + apple.key)
      #expect(bare.status == 0 && bare.notes.contains("ledger: none was named"), "\(bare)")

      let bought = try #require(all.first?["transactionId"]?.string)
      let now = Int64(WallClock.system.now().sinceEpoch)
      try await database.execute(
        """
        INSERT INTO consumption_requests (app, environment, id, transaction_id, original_transaction_id, asked_at,
          deadline, message, state, due_at)
        SELECT id, 2, 'request', \(bought), \(bought), \(now), \(now + 3_600_000), REPEAT('a', 32), 0, \(now) FROM apps
        """)
      let told = try await program.run(
        [
          "api", "consumption", bought, "customerConsented=true", "deliveryStatus=DELIVERED",
          "sampleContentProvided=false",
        ] + asking)
      let state = try await database.rows("SELECT state FROM consumption_requests").map { try $0.int("state") }
      // Where Apple wants no word of this kind of purchase the request stays open.
      #expect(state == [told.status == 0 ? 1 : 0], "\(told)")
      #expect(told.notes.contains("noted as answered") == (told.status == 0), "\(told)")
    }
  }

  @Test func `asks nothing more when another process was told to wait, the service neither`() async throws {
    try await world { apple in
      let site = try await registered(apple)
      let (database, program) = (site.database, site.program)
      let sold = try #require(try await apple.purchases(of: Self.app).first?["transaction"]?.object)
      let id = try #require(sold["originalTransactionId"]?.string)
      let asking = ["api", "history", id, "--app", Self.app, "--trust-root", apple.root, "--environment", "Sandbox"]
      #expect(try await program.run(asking).status == 0)
      try await apple.control(
        "fault", "fault=rateLimited", "on=api", "operation=getTransactionHistory", "value=3600000", "times=null")
      let refused = try await program.run(asking + ["--json"])
      #expect(refused.status == 7, "\(refused)")
      #expect(try refused.objects.first?["error"]?.object?["code"] == "rateLimited")
      let told = try await apple.matched()
      #expect(told == 1)
      // Another process, and one that has run all along: neither is to run into the same.
      let held = try await program.run(asking + ["--json"])
      #expect(held.status == 7)
      #expect(try held.objects.first?["error"]?.object?["code"] == "overBudget", "\(held)")
      let service = try await RunningProgram.inProcess(
        program, ["--trust-root", apple.root, "--reconcile-every", "0", "--heartbeat-every", "0"])
      let token = try await program.run("app", "token", Self.app).output.dropLast()
      let client = HTTPClient()
      let evidence = try await client.send(
        ClientRequest(
          method: "POST", url: "\(service.url)/v1/evidence?environment=Sandbox&wait=2",
          headers: [("Authorization", "Bearer \(token)")],
          body: (["transactionId": .string(id)] as JSONObject).encoded()))
      await client.shutdown()
      await service.end(SIGTERM)
      let answer = try JSONReader.read(evidence.body).object
      #expect(answer?["history"] == "waiting", "\(String(decoding: evidence.body, as: UTF8.self))")
      #expect(try await apple.matched() == told, "Apple was not asked again")
      let budgets = try await database.rows("SELECT DISTINCT budget FROM budgets WHERE blocked_until IS NOT NULL")
      #expect(try budgets.map { try $0.text("budget") } == ["Sandbox/getTransactionHistory/\(Self.app)"])
    }
  }

  @Test func `tells a wrong key, a wrong issuer and a wrong bundle id from one that is right`() async throws {
    try await world { apple in
      func verdicts(_ site: Site, _ app: String = Self.app, _ words: String...) async throws -> ([String?], Int32) {
        let outcome = try await site.program.run(["api", "check", "--app", app, "--json"] + words)
        return (try outcome.objects.map { $0["verdict"]?.string }, outcome.status)
      }
      let right = try await registered(apple)
      let keys = try await verdicts(right)
      #expect(keys == (["keyAccepted", "keyAccepted"], 0))
      let place = TemporaryDirectory()
      let other = place.file("other.p8", try SigningKeyFile.pem())
      let (id, issuer) = (apple.word("keyId"), apple.word("issuerId"))
      for key in [
        ["--key-file", other, "--key-id", id, "--issuer", issuer],
        ["--key-file", apple.word("keyFile"), "--key-id", "2X9R4HXF34", "--issuer", issuer],
        ["--key-file", apple.word("keyFile"), "--key-id", id, "--issuer", "57246542-96fe-1a63-e053-0824d011072a"],
      ] {
        let refused = try await verdicts(registered(apple, key))
        #expect(refused == (["wrongKeyOrIssuer", "wrongKeyOrIssuer"], 1), "\(key)")
      }
      // To a wrong bundle id Apple answers with nothing at all where the right one has something.
      let sold = try #require(try await apple.purchases(of: Self.app).first?["transaction"]?.object)
      let transaction = try #require(sold["transactionId"]?.string)
      let accepted = try await verdicts(right, Self.app, "--environment", "Sandbox", transaction)
      #expect(accepted == (["accepted"], 0))
      let elsewhere = try await registered(apple, app: "com.example.elsewhere")
      let foreign = try await verdicts(elsewhere, "com.example.elsewhere", "--environment", "Sandbox", transaction)
      #expect(foreign == (["wrongBundle"], 1))
      let said = try await elsewhere.program.run("api", "check", "--app", "com.example.elsewhere", transaction)
      #expect(said.output.contains("check the bundle id"), "\(said)")
    }
  }

  @Test func `says when there is no key, none that opens, or no such app`() async throws {
    let database = try await TestDatabase.migrated()
    let none = try await database.program.run("api", "history", "1")
    #expect(none.status == 2 && none.notes.contains("no app is registered"), "\(none)")
    let unknown = try await database.program.run("api", "history", "1", "--app", Self.app)
    #expect(unknown.status == 1 && unknown.notes.contains("not registered"), "\(unknown)")
    _ = try await database.program.run("app", "add", Self.app)
    let keyless = try await database.program.run("api", "history", "1", "--app", Self.app)
    #expect(keyless.status == 1 && keyless.notes.contains("no key is registered"), "\(keyless)")
    let place = TemporaryDirectory()
    let key = place.file("key.p8", try SigningKeyFile.pem())
    _ = try await database.program.run(
      "app", "add", Self.app, "--key-file", key, "--key-id", "K", "--issuer", "I")
    let other = place.file("other.key", Array(String(repeating: "cd", count: 32).utf8))
    let sealed = try await database.program.run(
      "api", "history", "1", "--app", Self.app, "--master-key-file", other)
    #expect(sealed.status == 1 && sealed.notes.contains("is sealed under the master key"), "\(sealed)")
  }
}
