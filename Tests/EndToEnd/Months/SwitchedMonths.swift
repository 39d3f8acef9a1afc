import Glibc
import HTTPClient
import HTTPServer
import JSON
import Signing
import Simulator
import Support
import Time
import Truth

/// Eighteen months of three apps that come from `legacy` to `complete`, stage by stage, while two processes are killed and
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
    /// Answers of 21005 and the like, and calls that no process took.
    var postponed = 0
    var untaken = 0
    /// Answers by stage and who gave them.
    var answers: [String: Int] = [:]
    var complaints: [String] = []
    /// What the mover did.
    var story: [String] = []
    var kills = 0
    var seconds = 0
  }

  /// Apple's URL is switched to V2 then, in hundredths of the time.
  private static let switched = 16

  private let site: SwitchedSite
  private let url: String

  /// - Parameters:
  ///   - customers: of each app.
  ///   - lost: of a hundred notifications so many are lost.
  ///   - program: told to use an empty database.
  ///   - place: for its files.
  static func live(
    customers: Int, lost: Int, seed: UInt64, with program: Program, in place: TemporaryDirectory, at time: WorldTime,
    by mover: any StageMover
  ) async throws -> Outcome {
    let begun = ContinuousClock.now
    let apps = (0..<3).map { number -> AppPlan in
      var app = AppPlan.sample(
        "com.example.app\(number)", appAppleID: 1_600_000_000 + Int64(number), environment: .production)
      app.customers = customers
      app.arrival = .days(365)
      app.habits = .lively
      return app
    }
    let world = AppStoreWorld(plan: WorldPlan(apps: apps), seed: seed, start: MonthsPlan.start)
    var settings = RunningAppStore.Settings()
    settings.parallel = 4
    let apple = try RunningAppStore.start(world, settings, clock: time.clock)
    var program = program
    program.environment.merge(time.environment) { _, new in new }
    program.environment["SWITCHYARD_APP_STORE_URL"] = apple.productionURL
    let trust = [
      "--trust-root", place.file("root.der", apple.store.identity.chains.pki.root.certificate.der), "--trust-root",
      place.file("receipts.der", apple.store.identity.receiptPKI.root.certificate.der), "--trust-root-for",
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
  static func byHand(customers: Int, lost: Int, seed: UInt64) async throws -> Outcome {
    let database = try await TestDatabase()
    return try await live(
      customers: customers, lost: lost, seed: seed, with: database.program, in: database.place,
      at: WorldTime(at: MonthsPlan.start, in: database.place), by: HandMover())
  }

  /// Moved by what is proven, on a server that is killed.
  static func byPlan(customers: Int, lost: Int, seed: UInt64) async throws -> Outcome {
    let database = try await WorldDatabase.start(at: MonthsPlan.start)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await database.run() }
      defer { group.cancelAll() }
      return try await live(
        customers: customers, lost: lost, seed: seed, with: database.program, in: database.place, at: database.time,
        by: PlannedMover(database))
    }
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
      try await site.run(
        ["rollout", "set", app.app.bundleID, "legacy", "--environment", "Production", "--reason", "as it was"])
    }
    var rule = FaultRule(Fault(.dropped), on: .notifications, times: nil)
    rule.percent = lost
    try await site.control("faults", rule.json)
    var isOff = false
    while date + mover.step <= MonthsPlan.start + SwitchedMoment.length {
      let moment = SwitchedMoment(date: date)
      try await site.workers.revive()
      try await mover.move(site, at: moment)
      for (number, app) in site.apps.enumerated() {
        let isNew = moment.isPast(Self.switched, behind: 2 * number)
        site.apple.send(
          AppPlace(bundleID: app.app.bundleID, environment: .production),
          to: Destination(url: "\(url)/notifications/\(app.app.bundleID)", version: isNew ? .v2 : .v1))
      }
      // Nobody falls back to Apple's legacy endpoint any more.
      if !isOff, moment.isPast(90) {
        try await site.control("faults", FaultRule(Fault(.serverError), on: .verifyReceipt, times: nil).json)
        isOff = true
      }
      try await mover.advance(site.time, by: mover.step)
      try await site.control("advance", ["to": .integer(site.time.clock.now().sinceEpoch)])
      date = date + mover.step
      let disturbing = mover
      async let disturbed: Void = disturbing.disturb()
      try await askAll(&outcome, at: moment)
      try await disturbed
    }
    try await site.workers.reviveAfterAll()
    outcome.story = mover.story
    outcome.complaints += mover.complaints
    return outcome
  }

  // MARK: Old clients

  private struct Asked: Sendable {
    let name: String
    let truth: Set<String>
    let answer: (body: JSONObject, source: String)?
  }

  private func askAll(_ outcome: inout Outcome, at moment: SwitchedMoment) async throws {
    let (world, date) = (site.apple.world, moment.date.iso8601)
    // Another one is the first each time: Apple is asked beside us about a few of those who come early.
    let everybody = Array(world.customers())
    let first = everybody.isEmpty ? 0 : moment.day % everybody.count
    let customers = Array(everybody[first...] + everybody[..<first])
    let asked = try await withThrowingTaskGroup(of: [Asked].self) { group in
      for lane in 0..<4 {
        let share = stride(from: lane, to: customers.count, by: 4).map { customers[$0] }
        group.addTask {
          var asked: [Asked] = []
          for customer in share { if let one = try await ask(about: customer, in: world) { asked.append(one) } }
          return asked
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    for one in asked {
      guard let (body, source) = one.answer else {
        outcome.untaken += 1
        continue
      }
      outcome.asked += 1
      if !one.truth.isEmpty { outcome.askedWithAccess += 1 }
      let status = body["status"]?.integer ?? -1
      outcome.answers["\(source) \(status)", default: 0] += 1
      // Apple's word for: try again.
      if status == 21_005 || status == 21_009 || (21_100...21_199).contains(status) {
        outcome.postponed += 1
        continue
      }
      let running = NaiveClient.running(in: body, at: world.now)
      let missing = one.truth.subtracting(running)
      if !missing.isEmpty { outcome.deprived.append("\(date), \(one.name): \(status) by \(source), \(missing)") }
      if !running.isSubset(of: one.truth) { outcome.extended += 1 }
    }
  }

  /// Nil: nothing is in the receipt, or Apple's own answer does not tell of the access either.
  private func ask(about customer: CustomerID, in world: AppStoreWorld) async throws -> Asked? {
    let state = world.state(of: customer)
    guard !state.legacyPurchases.isEmpty, let app = site.apps.first(where: { $0.app.bundleID == state.app.bundleID })
    else { return nil }
    let truth = Set(state.subscriptions.filter { $0.status == 1 || $0.status == 4 }.map(\.originalTransactionID))
    let theirs = VerifyReceiptAnswer(about: state.receipt, of: state, requestedAt: world.now).object(latestReceipt: [])
    guard truth.isSubset(of: NaiveClient.running(in: theirs, at: world.now)) else { return nil }
    let receipt = try state.receipt.encoded(signedBy: site.apple.store.identity.receiptPKI)
    let request: JSONObject = [
      "receipt-data": .string(String(decoding: receipt, as: UTF8.self)), "password": .string(app.sharedSecret),
    ]
    let answer = try? await site.client.send(
      ClientRequest(method: "POST", url: url + "/verifyReceipt", body: request.encoded(), deadline: .seconds(60)))
    let body = answer.flatMap { $0.status == 200 ? try? JSONReader.read($0.body).object : nil }
    return Asked(
      name: "\(app.app.bundleID) \(customer)", truth: truth,
      answer: body.map { ($0, answer?.headers["switchyard-answered-by"] ?? "nobody") })
  }
}
