/// Apple asks how purchases were used, a service and an operator answer: with real processes.
@Suite struct `Consumption requests` {
  private static let app = "com.example.used"
  private static let answer: JSONObject = [
    "customerConsented": true, "consumptionPercentage": 50_000, "deliveryStatus": "DELIVERED",
    "refundPreference": "DECLINE", "sampleContentProvided": false,
  ]

  /// The app's own back end: answers as it is told, and keeps what it was asked.
  private final class BackEnd: HTTPHandler {
    private let state = Mutex((answer: HTTPResponse(status: 503), asked: [HTTPRequest]()))

    var asked: [HTTPRequest] { state.withLock { $0.asked } }

    func answer(_ status: Int, _ object: JSONObject? = nil) {
      state.withLock { $0.answer = object.map { .json(status, $0.encoded()) } ?? HTTPResponse(status: status) }
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      state.withLock { state in
        state.asked.append(request)
        return state.answer
      }
    }
  }

  /// An App Store that sends to a service, both under way.
  private struct Site {
    let apple: RunningSimulator
    let database: TestDatabase
    let program: Program
    /// Purchases that their customers paid for.
    let bought: [String]

    /// Apple asks about the purchase; what became of it once it is no more `waiting`.
    func ask(_ id: String, until isThere: (JSONObject) -> Bool = { $0["state"] != "waiting" }) async throws
      -> JSONObject
    {
      try await apple.control(
        "act", "act=requestRefund", "transactionId=\(id)", "bundleId=\(app)", "environment=Sandbox")
      try await apple.control("advance", "milliseconds=600000")
      return try await find(id, isThere)
    }

    func find(_ id: String, _ isThere: (JSONObject) -> Bool) async throws -> JSONObject {
      var found: JSONObject?
      let isFound = try await eventually(within: .seconds(90)) {
        found = try await program.run("consumption", "list", id, "--json").objects.first
        return found.map(isThere) ?? false
      }
      try #require(isFound, "\(id): \(found.map { "\($0)" } ?? "never heard of")")
      return try #require(found)
    }

    /// What Apple was told of the purchase.
    func told(_ id: String) async throws -> [JSONValue?] {
      let all = try await apple.control("consumption").first?["consumption"]?.array ?? []
      return all.compactMap(\.object).filter { $0["transactionId"]?.string == id }.map { $0["request"] }
    }

    func set(_ words: String...) async throws {
      let outcome = try await program.run(["app", "set", app] + words)
      try #require(outcome.status == 0, "\(outcome)")
    }
  }

  /// - Parameter ago: how far the world's clock is behind the machine's.
  private func site(_ ago: Interval, _ body: (Site, TemporaryDirectory) async throws -> Void) async throws {
    let (place, now) = (TemporaryDirectory(), WallClock.system.now())
    let arguments = [
      "--customers", "8", "--seed", "5", "--app", Self.app, "--as-of", "\((now - ago).sinceEpoch)",
    ]
    try await RunningSimulator.with(arguments, in: place) { apple in
      let database = try await TestDatabase.migrated()
      var program = database.program
      program.environment.merge(apple.environment) { $1 }
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      let bought = try await apple.purchases(of: Self.app).compactMap { line -> String? in
        let transaction = line["transaction"]?.object
        let isOurs = transaction?["inAppOwnershipType"] == "PURCHASED" && transaction?["revocationDate"] == nil
        return isOurs ? transaction?["transactionId"]?.string : nil
      }
      try #require(bought.count >= 6)
      let service = try await RunningProgram.inProcess(
        program, ["--trust-root", apple.root, "--reconcile-every", "0", "--heartbeat-every", "0"])
      let result: Result<Void, any Error>
      do {
        try await apple.control(
          "destination", "bundleId=\(Self.app)", "environment=Sandbox", "url=\(service.url)/notifications", "version=2")
        let site = Site(apple: apple, database: database, program: program, bought: bought)
        result = .success(try await body(site, place))
      } catch { result = .failure(error) }
      await service.end(SIGTERM)
      try result.get()
    }
  }

  @Test func `are declined unless somebody decided otherwise, answered by hand, by rule or by the back end`()
    async throws
  {
    let (backEnd, bearer) = (BackEnd(), "callback-token-of-this-test")
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: backEnd)
    try server.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      try await site(.hours(2)) { site, place in
        let (program, ids) = (site.program, site.bought)
        let file = place.file("used.json", Self.answer.encoded())
        try await ignored(site, ids[0], file)
        try await fixed(site, ids[1], file, place)

        let token = place.file("token", Array((bearer + "\n").utf8))
        try await site.set(
          "--consumption", "ask", "--consumption-url", "http://127.0.0.1:\(server.port)/used?key=1",
          "--consumption-token-file", token)
        backEnd.answer(200, Self.answer)
        #expect(try await site.ask(ids[2])["state"] == "answered")
        #expect(try await site.told(ids[2]) == [.object(Self.answer)])
        let question = try #require(backEnd.asked.last)
        #expect(question.headers["Authorization"] == "Bearer \(bearer)")
        #expect(try JSONReader.read(question.body).object?["transactionId"] == .string(ids[2]))
        backEnd.answer(204)
        let declined = try await site.ask(ids[3])
        #expect(declined["state"] == "declined" && declined["reason"] == "the back end declines")
        var unconsented = Self.answer
        unconsented["customerConsented"] = false
        backEnd.answer(200, unconsented)
        #expect(try await site.ask(ids[4])["reason"] == "the customer did not consent")
        try await waiting(site, ids[5], backEnd)

        let listed = try await program.run("consumption", "list", "--app", Self.app, "--json").objects
        let transactions = Set(listed.compactMap { $0["transactionId"]?.string })
        #expect(transactions.isSuperset(of: ids.prefix(6)))
        let narrow = try await program.run("consumption", "list", "--state", "answered", "--limit", "2", "--json")
        #expect(try narrow.objects.map { $0["state"] } == ["answered", "answered"])
        let table = try await program.run("consumption", "list")
        #expect(table.output.contains("the back end declines") && table.output.contains("UNTIL"), "\(table)")
        #expect(try await !program.run("app", "list", Self.app).output.contains("key=1"))
        let audit = try await site.database.rows("SELECT action FROM audit WHERE action LIKE 'consumption.%'")
        #expect(try audit.map { try $0.text("action") } == ["consumption.answer", "consumption.decline"])
      }
    }
  }

  /// Nothing is told by itself; by hand it is, once, and only what Apple would take.
  private func ignored(_ site: Site, _ id: String, _ file: String) async throws {
    let program = site.program
    let request = try await site.ask(id)
    #expect(request["state"] == "declined" && request["reason"] == "the app's policy is ignore")
    #expect(request["consumptionRequestReason"] == "UNINTENDED_PURCHASE")
    #expect(try await site.told(id) == [])
    let tried = try await program.run("consumption", "answer", id, "--file", file, "--dry-run", "--json")
    #expect(tried.status == 0, "\(tried)")
    #expect(try tried.objects.first?["dryRun"] == true)
    #expect(try tried.objects.first?["answer"] == .object(Self.answer))
    #expect(try await site.told(id) == [])
    let unfit = try await program.run(
      ["consumption", "answer", id, "--file", "-"], input: (["customerConsented": true] as JSONObject).encoded())
    #expect(unfit.status == 2 && unfit.notes.contains("deliveryStatus is missing"), "\(unfit)")
    let done = try await program.run("consumption", "answer", id, "--file", file, "--json")
    #expect(done.status == 0, "\(done)")
    #expect(try done.objects.first?["dryRun"] == false && done.objects.first?["state"] == "answered")
    #expect(try await site.told(id) == [.object(Self.answer)])
    let again = try await program.run("consumption", "answer", id, "--file", file)
    #expect(again.status == 4 && again.notes.contains("is answered"), "\(again)")
    #expect(try await program.run("consumption", "decline", id, "--reason", "late").status == 4)
    #expect(try await site.told(id).count == 1)
    #expect(try await program.run("consumption", "list", "1").status == 1)
    #expect(try await program.run("consumption", "decline", id).status == 2, "a reason has to be given")
  }

  private func fixed(_ site: Site, _ id: String, _ file: String, _ place: TemporaryDirectory) async throws {
    let program = site.program
    var unconsented = Self.answer
    unconsented["customerConsented"] = false
    let wrong = place.file("wrong.json", unconsented.encoded())
    let refused = try await program.run(
      "app", "set", Self.app, "--consumption", "fixed", "--consumption-file", wrong)
    #expect(refused.status == 2 && refused.notes.contains("customerConsented is not true"), "\(refused)")
    let dry = try await program.run(
      "app", "set", Self.app, "--consumption", "fixed", "--consumption-file", file, "--dry-run", "--json")
    #expect(try dry.objects.first?["consumptionBefore"] == "ignore", "\(dry)")
    #expect(try await program.run("app", "list", Self.app, "--json").objects.first?["consumption"] == "ignore")
    try await site.set("--consumption", "fixed", "--consumption-file", file)
    #expect(try await site.ask(id)["state"] == "answered")
    #expect(try await site.told(id) == [.object(Self.answer)])
  }

  /// While the back end says nothing the request waits, until an operator ends it.
  private func waiting(_ site: Site, _ id: String, _ backEnd: BackEnd) async throws {
    backEnd.answer(503)
    let request = try await site.ask(id) { $0["attempts"]?.integer ?? 0 > 0 && $0["reason"]?.string != nil }
    #expect(request["state"] == "waiting" && request["reason"] == "the back end answers with status 503")
    let tried = try await site.program.run("consumption", "decline", id, "--reason", "no consent", "--dry-run")
    #expect(tried.output == "would decline: \(id)\n", "\(tried)")
    // The service may be at it at this very moment.
    let isDeclined = try await eventually(within: .seconds(60)) {
      try await site.program.run("consumption", "decline", id, "--reason", "no consent", "--json").status == 0
    }
    #expect(isDeclined)
    let ended = try await site.find(id) { $0["state"] == "declined" }
    #expect(ended["reason"] == "no consent")
    #expect(try await site.told(id) == [])
  }

  @Test func `end after 12 hours, which the doctor tells, and nobody can answer them then`() async throws {
    try await site(.hours(14)) { site, place in
      let (program, id) = (site.program, site.bought[0])
      let file = place.file("used.json", Self.answer.encoded())
      try await site.set("--consumption", "fixed", "--consumption-file", file)
      let request = try await site.ask(id)
      #expect(request["state"] == "expired" && request["reason"] == "received after its 12 hours")
      let late = try await program.run("consumption", "answer", id, "--file", file)
      #expect(late.status == 4 && late.notes.contains("is expired"), "\(late)")
      #expect(try await site.told(id) == [])
      let doctor = try await program.run("doctor")
      #expect(
        doctor.output.contains("ended without an answer") && doctor.output.contains("--state expired"), "\(doctor)")
    }
  }

  @Test func `that Apple refuses or cannot hear now are told apart by the exit status`() async throws {
    try await site(.hours(2)) { site, place in
      let program = site.program
      let file = place.file("used.json", Self.answer.encoded())
      // Asked about by Apple, and then nowhere to be found there.
      let now = WallClock.system.now()
      for id in ["700000000000001", "700000000000002"] {
        try await site.database.execute(
          """
          INSERT INTO consumption_requests (app, environment, id, transaction_id, original_transaction_id, asked_at,
            deadline, message, state, due_at, reason)
          SELECT id, 2, \(id), \(id), \(id), \(now), \(now + .hours(12)), \([UInt8](repeating: 1, count: 32)), 2,
            \(now), 'for a test' FROM apps
          """)
      }
      let sandbox = try await site.program.run("consumption", "list", "--json").objects
      #expect(sandbox.allSatisfy { $0["environment"] == "Sandbox" }, "\(sandbox)")
      let refused = try await program.run("consumption", "answer", "700000000000001", "--file", file, "--json")
      #expect(refused.status == 1, "\(refused)")
      let said = try refused.objects.first
      #expect(said?["state"] == "refused" && said?["reason"]?.string?.contains("4040010") == true, "\(refused)")
      let kept = try await program.run("consumption", "list", "700000000000001", "--json").objects.first
      #expect(kept?["state"] == "refused" && kept?["reason"]?.string?.contains("4040010") == true)
      #expect(try await program.run("doctor").output.contains("an answer that Apple refused"))
      try await site.apple.control("fault", "fault=serverError", "on=api", "times=null")
      let later = try await program.run("consumption", "answer", "700000000000002", "--file", file)
      #expect(later.status == 7 && later.output.contains("the service repeats it"), "\(later)")
      let waiting = try await program.run("consumption", "list", "700000000000002", "--json").objects.first
      #expect(waiting?["state"] == "waiting" && waiting?["answer"] == .object(Self.answer))
      try await site.apple.control("mend")
      #expect(try await site.find("700000000000002") { $0["state"] == "refused" }["reason"] != nil)
    }
  }
}
