import struct Simulator.Destination

/// Months of three apps that come from `legacy` to `complete`, stage by stage, while two processes are killed and
/// notifications are lost.
///
/// A `StageMover` moves them: by hand, or by what is proven.
///
/// In each step every customer's old client asks about the receipt on its device, and what it makes of the answer is compared
/// with the simulator's truth. At the end Apple's verifyReceipt is off.
struct SwitchedMonths: Sendable {
  struct Outcome: Sendable {
    /// Somebody who has access was answered as if it had ended.
    var deprived: [String] = []
    /// Somebody who has none was answered as if it ran on.
    var extended = 0
    var asked = 0
    var askedWithAccess = 0
    /// Answers of 21005 and the like, by status.
    var postponed: [Int64: Int] = [:]
    /// Customers whose call no process took, however often they called.
    var untaken = 0
    /// Answers by who gave them, and their status.
    var answers: [String: Int] = [:]
    /// The apps of which somebody was answered from the ledger in `ramp` or `live`.
    var ledgered: Set<String> = []
    var apps: [String] = []
    var complaints: [String] = []
    /// What the mover did.
    var story: [String] = []
    var kills = 0
    /// What was killed before the end, where customers asked on.
    var strikes: [Strike] = []
    var seconds = 0
  }

  /// Apple's URL is switched to V2 then, in hundredths of the time.
  private static let switched = 16

  let site: SwitchedSite
  let url: String

  /// - Parameters:
  ///   - customers: of each app.
  ///   - lost: of a hundred notifications so many are lost.
  ///   - program: told to use an empty database.
  ///   - place: for its files.
  static func live(
    customers: Int, lost: Int, seed: UInt64, with program: Program, in place: TemporaryDirectory, at time: WorldTime,
    by mover: any StageMover, afterwards: (SwitchedSite, inout Outcome) async throws -> Void = { _, _ in }
  ) async throws -> Outcome {
    let begun = ContinuousClock.now
    let apps = (0..<3).map { number -> AppPlan in
      var app = AppPlan.sample(
        "com.example.app\(number)", appAppleID: 1_600_000_000 + Int64(number), environment: .production)
      app.customers = customers
      app.arrival = mover.arrival
      app.habits = .lively
      return app
    }
    let world = AppStoreWorld(plan: WorldPlan(apps: apps), seed: seed, start: mover.start)
    var settings = RunningAppStore.Settings()
    settings.parallel = 4
    let apple = try RunningAppStore.start(world, settings, clock: time.clock)
    var program = program
    program.environment.merge(time.environment) { _, new in new }
    program.runsProcesses = true
    program.environment["SWITCHYARD_BASE_URL"] = apple.productionURL
    let trust = [
      "--trust-root", place.file("root.der", apple.store.identity.chains.pki.root.certificate.der), "--trust-root",
      place.file("receipts.der", apple.store.identity.receiptPKI.root.certificate.der), "--trust-root",
      "Production", "--i-know-this-root-can-make-purchases-count",
    ]
    try await register(apps, apple, program, place)
    let client = HTTPClient()
    let serving = trust + ["--verify-receipt-url", apple.productionURL + "/verifyReceipt", "--log-level", "warning"]
    let workers = try await TwoWorkers(client: client, seed: seed) { [program] in
      try await RunningProgram.serve(program, serving)
    }
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: workers)
    try server.start()
    let site = SwitchedSite(
      apps: apps, time: time, apple: apple, program: program, trust: trust, place: place, workers: workers,
      client: client)
    let months = SwitchedMonths(site: site, url: "http://127.0.0.1:\(server.port)")
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      var outcome: Outcome
      do {
        outcome = try await months.run(lost: lost, by: mover)
        try await afterwards(site, &outcome)
      } catch {
        _ = await workers.end()
        throw error
      }
      outcome.complaints += await workers.end()
      outcome.kills = workers.kills
      outcome.seconds = Int((ContinuousClock.now - begun).components.seconds)
      await client.shutdown()
      return outcome
    }
  }

  /// Moved by hand, on the server that tests share.
  ///
  /// - Parameter afterwards: looks at the ledger at the end, while the services run.
  static func byHand(
    customers: Int, lost: Int, seed: UInt64, _ mover: HandMover,
    afterwards: (SwitchedSite, TestDatabase, inout Outcome) async throws -> Void = { _, _, _ in }
  ) async throws -> Outcome {
    let database = try await TestDatabase()
    return try await live(
      customers: customers, lost: lost, seed: seed, with: database.program, in: database.place,
      at: WorldTime(at: MonthsPlan.start, in: database.place), by: mover
    ) { site, outcome in try await afterwards(site, database, &outcome) }
  }

  private static func register(
    _ apps: [AppPlan], _ apple: RunningAppStore, _ program: Program, _ place: TemporaryDirectory
  ) async throws {
    let identity = apple.store.identity
    let key = place.file("key.p8", try identity.key.signingKey.pem())
    try await run(["db", "migrate"], program)
    for app in apps {
      let secret = place.file(app.app.bundleID, Array(app.sharedSecret.utf8))
      try await run(
        [
          "app", "add", app.app.bundleID, "--app-apple-id", "\(app.app.appAppleID)", "--key-file", key, "--key-id",
          identity.key.keyID, "--issuer", identity.key.issuerID, "--shared-secret-file", secret,
        ], program)
    }
  }

  private static func run(_ words: [String], _ program: Program) async throws {
    let outcome = try await program.run(words)
    guard outcome.status == 0 else { throw RunningProgram.NotReady(notes: "\(words): \(outcome.notes)") }
  }

  // MARK: The months

  private func run(lost: Int, by first: any StageMover) async throws -> Outcome {
    var (outcome, mover, date) = (Outcome(), first, MonthsPlan.start)
    for app in site.apps {
      try await site.run(
        ["app", "legacy-url", app.app.bundleID, url + "/old", "--environment", "Production"])
    }
    try await site.runAll(
      site.apps.map { app in
        ["rollout", "set", app.app.bundleID, "legacy", "--environment", "Production", "--reason", "as it was"]
      })
    var rule = FaultRule(Fault(.dropped), on: .notifications, times: nil)
    rule.percent = lost
    try await site.control("faults", rule.json)
    var isOff = false
    while date + mover.step <= MonthsPlan.start + mover.calendar.length {
      let moment = SwitchedMoment(date: date, calendar: mover.calendar)
      try await site.workers.revive()
      let before = mover.stages
      try await mover.move(site, at: moment)
      for (number, app) in site.apps.enumerated() {
        let isNew = moment.isPast(Self.switched, after: number)
        site.apple.send(
          SimulatedAppScope(bundleID: app.app.bundleID, environment: .production),
          to: Destination(url: "\(url)/notifications/\(app.app.bundleID)", version: isNew ? .v2 : .v1))
      }
      // Nobody falls back to Apple's legacy endpoint any more.
      if !isOff, moment.isPast(90) {
        try await site.control("faults", FaultRule(Fault(.serverError), on: .verifyReceipt, times: nil).json)
        isOff = true
      }
      let untilFirstGroup = mover.step.milliseconds - Interval.hours(Int64(mover.groups - 1)).milliseconds
      try await advance(by: .milliseconds(untilFirstGroup), mover)
      date = date + mover.step
      // Of a new stage a process learns within seconds.
      let settled = mover.stages.filter { $0.value == before[$0.key] }
      try await askAll(&outcome, at: moment, by: mover, settled)
    }
    outcome.strikes = site.workers.strikes
    outcome.apps = site.apps.map(\.app.bundleID)
    try await site.workers.reviveAfterAll()
    outcome.story = mover.story
    outcome.complaints += mover.complaints
    return outcome
  }

  /// Lets the time go on, for the programs and for the simulated App Store.
  func advance(by interval: Interval, _ mover: any StageMover) async throws {
    try await mover.advance(site.time, by: interval)
    try await site.control("advance", ["to": .integer(site.time.clock.now().sinceEpoch)])
  }
}

extension SwitchedMonths.Outcome {
  /// Figures for the output of the soak.
  var summary: String {
    "\(asked) answers, \(askedWithAccess) about somebody with access, postponed \(postponed.sorted { $0.key < $1.key }), "
      + "\(untaken) not taken, from the ledger in ramp or live: \(ledgered.sorted()), "
      + "\(extended) told of more, \(kills) kills, \(seconds) s, \(answers.sorted { $0.key < $1.key })"
  }

  /// Expects that no customer with access got another answer, and that nothing went wrong.
  func expectNobodyDeprived(_ seed: UInt64) {
    #expect(deprived.isEmpty, "seed \(seed): \(deprived.count): \(deprived.prefix(20))")
    #expect(complaints == [], "seed \(seed)")
    #expect(askedWithAccess > asked / 5 && postponed.values.reduce(0, +) < asked / 10, "seed \(seed)")
    #expect(untaken < asked / 20, "seed \(seed)")
  }
}
