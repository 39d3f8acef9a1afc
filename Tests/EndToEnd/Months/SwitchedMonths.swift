import Glibc
import HTTPClient
import HTTPServer
import JSON
import Signing
import Simulator
import Support
import Time
import Truth

/// Eighteen months of three apps that an operator moves from `legacy` to `complete` by hand, stage by stage, while two
/// processes are killed and notifications are lost.
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
    /// Answers of 21005, and calls that no process took.
    var postponed = 0
    var untaken = 0
    /// Answers by stage and who gave them.
    var answers: [String: Int] = [:]
    var complaints: [String] = []
    var kills = 0
    var seconds = 0
  }

  /// When each move is made, in hundredths of the time.
  private static let moves: [(at: Int, words: [String])] = [
    (8, ["record"]), (26, ["shadow"]), (36, ["ramp", "--percent", "10"]), (46, ["ramp", "--percent", "50"]),
    (56, ["live"]), (66, ["shadow"]), (70, ["live"]), (80, ["complete"]),
  ]
  /// Apple's URL is switched to V2 then.
  private static let switched = 16
  private static let step = Interval.days(6)
  private static let length = Interval.days(548)

  private let apps: [AppPlan]
  private let time: WorldTime
  private let apple: RunningAppStore
  private let program: Program
  private let workers: TwoWorkers
  private let client: HTTPClient
  private let url: String

  private static var steps: Int { Int(length.milliseconds / step.milliseconds) }

  /// - Parameters:
  ///   - customers: of each app.
  ///   - lost: of a hundred notifications so many are lost.
  static func live(customers: Int, lost: Int, seed: UInt64) async throws -> Outcome {
    let begun = ContinuousClock.now
    let database = try await TestDatabase()
    let time = WorldTime(at: MonthsPlan.start, in: database.place)
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
    var program = database.program
    program.environment.merge(time.environment) { _, new in new }
    program.environment["SWITCHYARD_APP_STORE_URL"] = apple.productionURL
    let roots = [
      "--trust-root", database.place.file("root.der", apple.store.identity.chains.pki.root.certificate.der),
      "--trust-root",
      database.place.file("receipts.der", apple.store.identity.receiptPKI.root.certificate.der),
      "--trust-root-for", "Production", "--i-know-this-root-can-make-purchases-count", "--verify-receipt-url",
      apple.productionURL + "/verifyReceipt", "--log-level", "warning",
    ]
    try await register(apps, apple, program, database.place)
    let client = HTTPClient()
    let workers = try await TwoWorkers(client: client, seed: seed) { [program] in
      try await RunningProgram.serve(program, roots)
    }
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: workers)
    try server.start()
    let months = SwitchedMonths(
      apps: apps, time: time, apple: apple, program: program, workers: workers, client: client,
      url: "http://127.0.0.1:\(server.port)")
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      var outcome: Outcome
      do {
        outcome = try await months.run(lost: lost)
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

  private func run(lost: Int) async throws -> Outcome {
    var outcome = Outcome()
    for app in apps {
      try await Self.run(
        ["app", "legacy-url", app.app.bundleID, url + "/old", "--environment", "Production"], program)
      try await set(["legacy"], app)
    }
    var rule = FaultRule(Fault(.dropped), on: .notifications, times: nil)
    rule.percent = lost
    try await control("faults", rule.json)
    for step in 0..<Self.steps {
      try await workers.revive()
      for (number, app) in apps.enumerated() {
        // One app after the other, the smallest first.
        let now = step - 2 * number
        for (at, words) in Self.moves where now == Self.steps * at / 100 {
          workers.killOne(after: 2 + number)
          try await set(words, app)
        }
        let isNew = now >= Self.steps * Self.switched / 100
        apple.send(
          AppPlace(bundleID: app.app.bundleID, environment: .production),
          to: Destination(url: "\(url)/notifications/\(app.app.bundleID)", version: isNew ? .v2 : .v1))
      }
      // Nobody falls back to Apple's legacy endpoint any more.
      if step == Self.steps * 90 / 100 {
        try await control("faults", FaultRule(Fault(.serverError), on: .verifyReceipt, times: nil).json)
      }
      time.advance(by: Self.step)
      try await control("advance", ["to": .integer(time.clock.now().sinceEpoch)])
      try await askAll(&outcome, step: step)
    }
    try await workers.reviveAfterAll()
    return outcome
  }

  private func set(_ words: [String], _ app: AppPlan) async throws {
    try await Self.run(
      [
        "rollout", "set", app.app.bundleID, "--environment", "Production", "--force", "--pass-by", "--reason",
        "by hand",
      ] + words, program)
  }

  private func control(_ path: String, _ body: JSONObject) async throws {
    let answer = try await client.send(
      ClientRequest(method: "POST", url: "\(apple.controlURL)/\(path)", body: body.encoded(), deadline: .minutes(10)))
    guard answer.status == 200 else {
      throw RunningProgram.NotReady(notes: String(decoding: answer.body, as: UTF8.self))
    }
  }

  // MARK: Old clients

  private struct Asked: Sendable {
    let name: String
    let truth: Set<String>
    let answer: (body: JSONObject, source: String)?
  }

  private func askAll(_ outcome: inout Outcome, step: Int) async throws {
    let world = apple.world
    let customers = Array(world.customers())
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
      if status == 21_005 {
        outcome.postponed += 1
        continue
      }
      let running = NaiveClient.running(in: body, at: world.now)
      let missing = one.truth.subtracting(running)
      if !missing.isEmpty { outcome.deprived.append("step \(step), \(one.name): \(status) by \(source), \(missing)") }
      if !running.isSubset(of: one.truth) { outcome.extended += 1 }
    }
  }

  /// Nil: nothing is in the receipt, or Apple's own answer does not tell of the access either.
  private func ask(about customer: CustomerID, in world: AppStoreWorld) async throws -> Asked? {
    let state = world.state(of: customer)
    guard !state.legacyPurchases.isEmpty, let app = apps.first(where: { $0.app.bundleID == state.app.bundleID }) else {
      return nil
    }
    let truth = Set(state.subscriptions.filter { $0.status == 1 || $0.status == 4 }.map(\.originalTransactionID))
    let theirs = VerifyReceiptAnswer(about: state.receipt, of: state, requestedAt: world.now).object(latestReceipt: [])
    guard truth.isSubset(of: NaiveClient.running(in: theirs, at: world.now)) else { return nil }
    let receipt = try state.receipt.encoded(signedBy: apple.store.identity.receiptPKI)
    let request: JSONObject = [
      "receipt-data": .string(String(decoding: receipt, as: UTF8.self)), "password": .string(app.sharedSecret),
    ]
    let answer = try? await client.send(
      ClientRequest(method: "POST", url: url + "/verifyReceipt", body: request.encoded(), deadline: .seconds(60)))
    let body = answer.flatMap { $0.status == 200 ? try? JSONReader.read($0.body).object : nil }
    return Asked(
      name: "\(app.app.bundleID) \(customer)", truth: truth,
      answer: body.map { ($0, answer?.headers["switchyard-answered-by"] ?? "nobody") })
  }
}
