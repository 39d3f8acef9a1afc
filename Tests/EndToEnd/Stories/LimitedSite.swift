/// Services on one ledger that fetch the history of every customer from an App Store with a limit.
struct LimitedSite: Sendable {
  private static let bundleID = "com.example.limits"
  private static let deadline = Interval.seconds(120)

  let apple: RunningAppStore
  let database: TestDatabase
  let http: HTTPClient
  let ids: [String]
  private let token: String
  private let root: String

  /// - Parameter limit: calls a second.
  static func with(customers: Int, limit: Int, _ body: (LimitedSite) async throws -> Void) async throws {
    var plan = AppPlan.sample(bundleID)
    plan.customers = customers
    plan.arrival = .days(10)
    plan.habits.buysOnce = 1_000
    plan.habits.subscribes = 250
    let start = WallClock.system.now() - .days(40)
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 5, start: start)
    world.advance(to: start + .days(40))
    let apple = try RunningAppStore.start(world, RunningAppStore.Settings(), clock: .system)
    let (database, http) = (try await TestDatabase.migrated(), HTTPClient())
    let (program, place, key) = (database.program, database.place, apple.store.identity.key)
    let added = try await program.run(
      "app", "add", bundleID, "--key-file", place.file("key.p8", try key.signingKey.pem()), "--key-id", key.keyID,
      "--issuer", key.issuerID)
    #expect(added.status == 0, "\(added)")
    let token = String(try await program.run("app", "token", bundleID, "--label", "limits").output.dropLast())
    let root = place.file("root.der", apple.store.identity.chains.pki.root.certificate.der)
    let ids = world.customers(of: bundleID).compactMap { world.state(of: $0).originalTransactionIDs.first }
    let site = LimitedSite(apple: apple, database: database, http: http, ids: ids, token: token, root: root)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      for operation in ["getTransactionHistory", "getAllSubscriptionStatuses"] {
        let rule: JSONObject = [
          "fault": "secondLimit", "on": "api", "operation": .string(operation), "value": .integer(Int64(limit)),
        ]
        try await apple.control(http, "POST", "faults", rule)
      }
      let result: Result<Void, any Error>
      do { result = .success(try await body(site)) } catch { result = .failure(error) }
      await http.shutdown()
      group.cancelAll()
      try await group.waitForAll()
      try result.get()
    }
  }

  func serve() async throws -> RunningProgram {
    try await RunningProgram.serve(
      database.program,
      ["--trust-root", root, "--base-url", apple.productionURL, "--reconcile-every", "0", "--heartbeat-every", "0"])
  }

  func post(_ id: String, to service: RunningProgram, wait: Int = 0) async throws -> JSONObject {
    let body: JSONObject = ["transactionId": .string(id)]
    let answer = try await http.send(
      ClientRequest(
        method: "POST", url: "\(service.url)/v1/evidence?environment=Sandbox&wait=\(wait)",
        headers: [("Authorization", "Bearer \(token)")], body: body.encoded(), deadline: .seconds(60)))
    let object = (try? JSONReader.read(answer.body).object) ?? [:]
    #expect(answer.status == 200, "\(object)")
    return object
  }

  /// Posts all IDs to the services in turn, eight at a time.
  func handIn(to services: [RunningProgram]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for number in stride(from: lane, to: ids.count, by: 8) {
            _ = try await post(ids[number], to: services[lane % services.count])
          }
        }
      }
      try await group.waitForAll()
    }
  }

  func customer(_ id: String) -> CustomerID? {
    apple.world.customer(ofAnyTransactionID: id, app: Self.bundleID, environment: .sandbox)
  }

  /// The number of customers that Apple was asked about.
  private var begun: Int { apple.historiesBegun.count }

  /// Kills one of two services, stops the other, and has a third finish the work.
  ///
  /// Apple is asked about each customer, and twice only about those that the first one was asking about.
  /// - Returns: how many jobs the first one had leased, and how many customers were asked about twice.
  func loseServices(_ services: [RunningProgram]) async throws -> (leased: Int, twice: Int) {
    let left = ids.count - begun
    try #require(left > 12, "too few customers are left to lose a service")
    let goal = begun + left / 6
    let isShared = try await eventually(within: Self.deadline) {
      guard begun >= goal else { return false }
      // Frozen, so that it ends none of its jobs between this look and the kill.
      kill(services[0].id, SIGSTOP)
      let owners = try await database.rows("SELECT DISTINCT owner FROM work WHERE state = 0 AND owner IS NOT NULL")
      if owners.count < 2 { kill(services[0].id, SIGCONT) }
      return owners.count == 2
    }
    #expect(isShared, "a service has no jobs")
    await services[0].end(SIGKILL)
    let next = min(ids.count, begun + left / 4)
    // On a busy machine the killed service may have leased everything that was left.
    let goesOn = try await eventually(within: Self.deadline) {
      if begun >= next { return true }
      return try await database.count("work WHERE state = 0 AND owner IS NULL") == 0
    }
    #expect(goesOn)
    // It finishes the calls that it has begun, and releases the rest.
    #expect(await services[1].end(SIGTERM) == 0, "\(services[1].notes.suffix(2_000))")
    var leased: [String: Bool] = [:]
    for row in try await database.rows("SELECT subject, begun FROM work WHERE state = 0 AND owner IS NOT NULL") {
      leased[try row.text("subject")] = try row.bool("begun")
    }
    // The leases of the killed service end after a quarter of an hour.
    try await database.execute("UPDATE work SET due_at = 1 WHERE state = 0 AND owner IS NOT NULL")
    let third = try await serve()
    #expect(await eventually(within: Self.deadline) { begun == ids.count })
    #expect(try await eventually(within: Self.deadline) { try await database.count("work WHERE state = 0") == 0 })
    #expect(await third.end(SIGTERM) == 0)
    #expect(try await database.count("work WHERE state <> 1") == 0, "not every job is done")
    let histories = apple.historiesBegun
    let asked = ids.map { id in (id: id, count: customer(id).flatMap { histories[$0]?.count } ?? 0) }
    #expect(asked.allSatisfy { $0.count >= 1 }, "Apple was not asked about every customer")
    let twice = asked.filter { $0.count > 1 }
    let isRight = twice.allSatisfy { leased[$0.id] == true && $0.count == 2 }
    #expect(isRight, "\(twice) of \(leased)")
    return (leased.count, twice.count)
  }
}
