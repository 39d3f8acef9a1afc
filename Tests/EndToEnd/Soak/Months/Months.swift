import struct Simulator.Destination

/// Eighteen months of an app that moves from V1 to V2, lived against two processes of the service, with every fault.
///
/// The processes, and the commands at the end, are the program as operators run it, in the world's time.
struct Months: Sendable {
  /// What is left to be said at the end.
  struct Outcome: Sendable {
    var differences: [String] = []
    var compared = 0
    /// Figures for docs/internals/benchmarks.md, in their order.
    var figures: [(name: String, value: Int)] = []
    /// What went otherwise than it should, though nothing was lost by it.
    var complaints: [String] = []

    subscript(name: String) -> Int { figures.first { $0.name == name }?.value ?? 0 }
  }

  private let plan: MonthsPlan
  private let time: WorldTime
  private let apple: RunningAppStore
  private let program: Program
  private let trust: [String]
  private let database: TestDatabase
  private let workers: TwoWorkers
  private let server: HTTPServer
  private let client: HTTPClient

  /// Lives them to the end, and compares.
  static func live(_ plan: MonthsPlan) async throws -> Outcome {
    let database = try await TestDatabase()
    let time = WorldTime(at: MonthsPlan.start, in: database.place)
    var settings = RunningAppStore.Settings()
    settings.parallel = 4
    let apple = try RunningAppStore.start(plan.world, settings, clock: time.clock)
    var program = database.program
    program.environment.merge(time.environment) { _, new in new }
    program.runsProcesses = true
    program.environment["SWITCHYARD_BASE_URL"] = apple.productionURL
    let token = try await register(apple, program, database.place)
    let trust = [
      "--trust-root", database.place.file("root.der", apple.store.identity.chains.pki.root.certificate.der),
      "--trust-root", "Production", "--i-know-this-root-can-make-purchases-count",
    ]
    let client = HTTPClient()
    let serving =
      trust + [
        "--verify-receipt-url", apple.productionURL + "/verifyReceipt", "--log-level", "warning",
      ]
    let workers = try await TwoWorkers(client: client, seed: plan.seed) { [program] in
      try await RunningProgram.serve(program, serving)
    }
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: workers)
    try server.start()
    let months = Months(
      plan: plan, time: time, apple: apple, program: program, trust: trust, database: database, workers: workers,
      server: server,
      client: client)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      var outcome: Outcome
      do {
        outcome = try await months.run(token: token)
      } catch {
        _ = await workers.end()
        throw error
      }
      outcome.complaints += await workers.end()
      await client.shutdown()
      return outcome
    }
  }

  /// Makes the database and registers the app with its key and its secret; a token of its back end.
  static func register(
    _ apple: RunningAppStore, _ program: Program, _ place: TemporaryDirectory
  ) async throws -> String {
    let identity = apple.store.identity
    let key = place.file("key.p8", try identity.key.signingKey.pem())
    let secret = place.file("secret", Array(AppPlan.sample(MonthsPlan.app).sharedSecret.utf8))
    var last = ""
    for words in [
      ["db", "migrate"],
      [
        "app", "add", MonthsPlan.app, "--app-apple-id", "\(MonthsPlan.appAppleID)", "--key-file", key, "--key-id",
        identity.key.keyID, "--issuer", identity.key.issuerID, "--shared-secret-file", secret,
      ],
      ["app", "token", MonthsPlan.app, "--label", "months"],
    ] {
      let outcome = try await program.run(words)
      guard outcome.status == 0 else { throw RunningProgram.NotReady(notes: outcome.notes) }
      last = String(outcome.output.dropLast())
    }
    return last
  }

  // MARK: The months

  private func run(token: String) async throws -> Outcome {
    let begun = ContinuousClock.now
    var random = SeededRandom(seed: plan.seed)
    let url = "http://127.0.0.1:\(server.port)"
    let old = try await program.run(
      "app", "legacy-url", MonthsPlan.app, url + "/old", "--environment", "Production")
    guard old.status == 0 else { throw RunningProgram.NotReady(notes: old.notes) }
    var clients = AppClients(
      url: url, token: token, secret: AppPlan.sample(MonthsPlan.app).sharedSecret, client: client,
      signer: try PayloadSigner(apple.store.identity.chains.pki), receiptPKI: apple.store.identity.receiptPKI)
    for rule in plan.faults { _ = try await control("POST", "faults", rule.json) }
    let fatal = plan.fatalSteps(&random)
    for step in 0..<plan.steps {
      try await workers.revive()
      if fatal.contains(step) { workers.killOne(after: .random(in: 0..<(2 + plan.customers / 8), using: &random)) }
      let isNew = 2 * step >= plan.steps
      send(isNew ? .v2 : .v1, to: url)
      try await advance(plan.step)
      let unheard = await clients.open(apple.world, isNew: isNew, chance: &random)
      plan.say("step \(step) of \(plan.steps), \(unheard) unheard, \(ContinuousClock.now - begun)")
    }
    try await workers.reviveAfterAll()
    try await passSkew()
    // Whoever was not heard goes on trying.
    var tries = 0
    while await clients.open(apple.world, isNew: true, chance: &random) > 0, tries < 50 { tries += 1 }
    var outcome = Outcome()
    try await lookBefore(&outcome)
    try await reconcile(&outcome)
    try await finishSeeding(&outcome)
    try await compare(&outcome)
    outcome.figures += [
      ("kills", workers.kills),
      ("seconds", Int((ContinuousClock.now - begun).components.seconds)),
    ]
    return outcome
  }

  private func send(_ version: NotificationVersion, to url: String) {
    apple.send(
      SimulatedAppScope(bundleID: MonthsPlan.app, environment: .production),
      to: Destination(url: "\(url)/notifications/\(MonthsPlan.app)", version: version))
  }

  private func advance(_ interval: Interval) async throws {
    time.advance(by: interval)
    _ = try await control("POST", "advance", ["to": .integer(time.clock.now().sinceEpoch)])
  }

  /// Lets the minutes pass by which a clock was ahead: until then its word is the newest, whatever comes after it.
  private func passSkew() async throws {
    try await apple.endFaults(client) { $0["fault"] == "clockSkew" }
    try await advance(.minutes(11))
  }

  @discardableResult
  private func control(_ method: String, _ path: String, _ body: JSONObject? = nil) async throws -> JSONObject {
    try await apple.control(client, method, path, body)
  }

  // MARK: The end

  /// Asks about everybody, once.
  private func reconcile(_ outcome: inout Outcome) async throws {
    let asked = try await program.run(
      ["reconcile", MonthsPlan.app, "--environment", "Production", "--quiet", "0", "--json"] + trust,
      within: .minutes(60))
    plan.say("reconcile \(asked.status) \(asked.output)\(asked.notes)")
    // 1: a part of it was refused, as by a 401 out of nothing, and is for the schedule to make again. 3: something was set
    // aside, or is asked about later. Either way all is work now: whether the truth comes of it is what is to be seen.
    if ![0, 1, 3].contains(asked.status) { outcome.complaints.append("reconcile: \(asked)") }
  }

  /// Waits until nothing is left to be asked; what is to be tried again later is, as the time of day goes on.
  private func finishSeeding(_ outcome: inout Outcome) async throws {
    var (waiting, last) = (0, ContinuousClock.now)
    let isDone = try await eventually(within: .minutes(2 + Int64(plan.customers / 50))) {
      waiting = try await count("work WHERE state = 0")
      let now = ContinuousClock.now
      // Fast, but slower than what is being asked about would be given up.
      time.advance(by: .milliseconds(40 * Int64((now - last) / .milliseconds(1))))
      last = now
      return waiting == 0
    }
    if !isDone { outcome.complaints.append("\(waiting) ids still wait to be asked about") }
    for row in try await database.rows("SELECT subject, COALESCE(reason, '') AS reason FROM work WHERE state > 1") {
      outcome.complaints.append("\(try row.text("subject")) was given up: \(try row.text("reason"))")
    }
  }

  /// What two processes that were killed knew by themselves: less than there is, and never more.
  private func lookBefore(_ outcome: inout Outcome) async throws {
    let pool = Pool(database.configuration)
    let known = try await KnownPurchases(of: MonthsPlan.app, in: .production, pool)
    await pool.close()
    let world = apple.world
    let differences = known.compared(with: Array(world.truth()), at: world.now).differences
    let madeUp = differences.filter { if case .madeUp = $0 { true } else { false } }
    let lost = differences.count { if case .lost = $0 { true } else { false } }
    outcome.complaints += madeUp.map(\.description)
    outcome.figures += [("before.lost", lost), ("before.other", differences.count - lost - madeUp.count)]
    for difference in differences.prefix(200) { plan.say("before: \(difference)") }
  }

  private func compare(_ outcome: inout Outcome) async throws {
    let pool = Pool(database.configuration)
    let known = try await KnownPurchases(of: MonthsPlan.app, in: .production, pool)
    let customers = try await KnownCustomers(of: MonthsPlan.app, in: .production, pool)
    await pool.close()
    let world = apple.world
    let truth = Array(world.truth())
    let compared = known.compared(with: truth, at: world.now)
    outcome.differences = compared.differences.map(\.description) + customers.differences(from: truth)
    outcome.compared = compared.compared
    for rule in try await apple.faults(client) {
      let name = "faults.\(rule["on"]?.string ?? "").\(rule["fault"]?.string ?? "")"
      outcome.figures.append((name, Int(rule["struck"]?.integer ?? 0)))
      if rule["fault"] == "serverError" {
        outcome.figures.append(("calls.\(rule["on"]?.string ?? "")", Int(rule["matched"]?.integer ?? 0)))
      }
    }
    for state in ["delivered", "given%20up", "lost", "waiting", "no%20destination"] {
      let list = try await control("GET", "notifications?limit=1&state=\(state)")
      outcome.figures.append(("notifications.\(state)", Int(list["count"]?.integer ?? 0)))
    }
    outcome.figures += [
      ("customers", world.customerCount), ("compared", compared.compared), ("messages", try await count("inbox")),
      ("quarantined", try await count("quarantine")), ("forwarded", workers.heard.count),
      ("unforwarded", try await count("outbox WHERE state = 0")),
      ("failed", try await count("work WHERE state = 3")), ("unknown", try await count("work WHERE state = 2")),
    ]
  }

  private func count(_ condition: SQL) async throws -> Int {
    try await database.rows("SELECT COUNT(*) AS rows_there FROM " + condition).first?.int("rows_there") ?? 0
  }
}
