import Database
import Glibc
import HTTPClient
import JSON
import Purchases
import Runtime
import Signing
import Simulator
import Support
import Testing
import Time

/// Two services on one ledger that look up everybody at an App Store with a limit, in real time.
@Suite struct `Two services under Apple's limit` {
  private static let bundleID = "com.example.limits"
  /// Calls a second, and for how long both are looked at; `scripts/soak limits` asks for more.
  private static let limit = Program.setting("SWITCHYARD_SOAK_LIMIT") ?? 40
  private static let seconds = Program.setting("SWITCHYARD_SOAK_LIMIT_SECONDS")
  private static let deadline = Interval.seconds(120)

  /// An App Store with the limit, and the program told of it.
  private struct Scene: Sendable {
    let running: RunningAppStore
    let database: TestDatabase
    let http: HTTPClient
    let token: String
    let root: String
    let ids: [String]

    func serve() async throws -> RunningProgram {
      try await RunningProgram.serve(
        database.program,
        [
          "--trust-root", root, "--base-url", running.productionURL, "--reconcile-every", "0", "--heartbeat-every", "0",
        ])
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

    func customer(_ id: String) -> CustomerID? {
      running.world.customer(ofAnyTransactionID: id, app: bundleID, environment: .sandbox)
    }

    /// The ids that wait, by whether Apple was asked about them when their process ended.
    func waiting() async throws -> [String: Bool] {
      var waiting: [String: Bool] = [:]
      for row in try await database.rows("SELECT subject, begun FROM work WHERE state = 0") {
        waiting[try row.text("subject")] = try row.bool("begun")
      }
      return waiting
    }

    /// How many wait whom nobody has leased.
    func free() async throws -> Int {
      try await database.rows("SELECT COUNT(*) AS count FROM work WHERE state = 0 AND owner IS NULL").first?
        .int("count") ?? 0
    }

    /// Somebody whom nobody has begun to ask about, late in line.
    func somebody() async throws -> String? {
      try await database.rows("SELECT subject FROM work WHERE state = 0 AND begun = 0 ORDER BY id DESC LIMIT 1").first?
        .text("subject")
    }

    /// Until when Apple, when it refused a call for a history last, said that it takes none.
    func blockedUntil() async throws -> Milliseconds? {
      try await database.rows(
        "SELECT MAX(blocked_until) AS blocked FROM budgets WHERE budget LIKE '%/getTransactionHistory/%'"
      ).first?.optionalMilliseconds("blocked")
    }

    /// Calls for histories that were let through, and those that were refused.
    func calls() async throws -> (answered: Int, refused: Int) {
      let answer = try await http.send(ClientRequest(method: "GET", url: running.controlURL + "/faults"))
      let rules = try JSONReader.read(answer.body).object?["faults"]?.array ?? []
      guard
        let rule = rules.compactMap(\.object).first(where: { $0["operation"] == "getTransactionHistory" }),
        let matched = rule["matched"]?.integer, let struck = rule["struck"]?.integer
      else { throw DatabaseError(.misuse, "no rule: \(String(decoding: answer.body, as: UTF8.self))") }
      return (Int(matched - struck), Int(struck))
    }
  }

  private static func with(customers: Int, _ body: (Scene) async throws -> Void) async throws {
    var plan = AppPlan.sample(bundleID)
    plan.customers = customers
    plan.arrival = .days(10)
    plan.habits.buysOnce = 1_000
    plan.habits.subscribes = 250
    let start = WallClock.system.now() - .days(40)
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 5, start: start)
    world.advance(to: start + .days(40))
    let running = try RunningAppStore.start(world, RunningAppStore.Settings(), clock: .system)
    let (database, http) = (try await TestDatabase.migrated(), HTTPClient())
    let (program, place, key) = (database.program, database.place, running.store.identity.key)
    #expect(
      try await program.run(
        "app", "add", bundleID, "--key-file", place.file("key.p8", try key.signingKey.pem()), "--key-id", key.keyID,
        "--issuer", key.issuerID
      ).status == 0)
    let token = String(try await program.run("app", "token", bundleID, "--label", "limits").output.dropLast())
    let root = place.file("root.der", running.store.identity.chains.pki.root.certificate.der)
    let ids = world.customers(of: bundleID).compactMap { world.state(of: $0).originalTransactionIDs.first }
    let scene = Scene(running: running, database: database, http: http, token: token, root: root, ids: ids)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await running.run() }
      for operation in ["getTransactionHistory", "getAllSubscriptionStatuses"] {
        let rule: JSONObject = [
          "fault": "secondLimit", "on": "api", "operation": .string(operation), "value": .integer(Int64(limit)),
        ]
        _ = try await http.send(
          ClientRequest(method: "POST", url: running.controlURL + "/faults", body: rule.encoded()))
      }
      let failure: (any Error)?
      do {
        try await body(scene)
        failure = nil
      } catch { failure = error }
      await http.shutdown()
      group.cancelAll()
      try await group.waitForAll()
      if let failure { throw failure }
    }
  }

  /// All ids handed in over both, eight at a time.
  private static func handIn(_ scene: Scene, to services: [RunningProgram]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for number in stride(from: lane, to: scene.ids.count, by: 8) {
            _ = try await scene.post(scene.ids[number], to: services[lane % services.count])
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Uses of the limit after the first minute, and what somebody who waits waits for.
  private static func look(_ scene: Scene, _ services: [RunningProgram], for seconds: Int) async throws {
    try await Task.sleep(for: .seconds(60))
    let (before, begun) = (try await scene.calls(), WallClock.system.now())
    var (waits, free, refusals): ([Int64], [Int64], [String]) = ([], [], [])
    while WallClock.system.now() - begun < .seconds(Int64(seconds - 60)) {
      guard let id = try await scene.somebody() else { break }
      let posted = WallClock.system.now()
      #expect(try await scene.post(id, to: services[waits.count % 2], wait: 30)["history"] == "done")
      if let asked = scene.customer(id).flatMap({ scene.running.historiesBegun[$0]?.first }), asked >= posted {
        waits.append((asked - posted).milliseconds)
        // While Apple takes no calls nobody's goes, whoever waits.
        let word = try await scene.blockedUntil() ?? posted
        if word > posted, word <= asked {
          refusals.append("\((asked - posted).milliseconds) ms, \((asked - word).milliseconds) after Apple's word")
        } else {
          free.append((asked - posted).milliseconds)
        }
      }
      try await Task.sleep(for: .milliseconds(330))
    }
    let (after, took) = (try await scene.calls(), WallClock.system.now() - begun)
    #expect(try await scene.waiting().count > 0, "work was to wait all the time")
    let (answered, refused) = (after.answered - before.answered, after.refused - before.refused)
    let used = Double(answered) / (Double(limit) * Double(took.milliseconds) / 1_000)
    let share = Double(refused) / Double(max(1, answered + refused))
    waits.sort()
    print(
      "soak.limits: \(limit)/s for \(seconds) s, two services: \(Int(used * 1_000) / 10) % used, "
        + "\(Double(Int(share * 10_000)) / 100) % refused; until Apple was asked for \(waits.count) who waited: median "
        + "\(waits.isEmpty ? 0 : waits[waits.count / 2]) ms, longest \(waits.last ?? 0) ms, "
        + "\(free.max() ?? 0) ms where Apple had refused none; else \(refusals)")
    #expect(used >= 0.9 && share < 0.01)
    // A slot is two gaps, as each service has half; the rest is the way over HTTP and the ledger.
    #expect(!waits.isEmpty && waits[waits.count / 2] < 2_000 / Int64(limit) + 250, "\(waits)")
  }

  private static func begun(_ scene: Scene) -> Int { scene.running.historiesBegun.count }

  @Test func `lose nobody when they end, and ask twice only about whom one was asking that was killed`() async throws {
    // They are being looked up while they are handed in, and some have bought nothing.
    let customers = Self.limit * (Self.seconds.map { $0 + 90 } ?? 10)
    try await Self.with(customers: customers) { scene in
      var services = [try await scene.serve(), try await scene.serve()]
      try await Self.handIn(scene, to: services)
      if let seconds = Self.seconds { try await Self.look(scene, services, for: seconds) }
      let left = scene.ids.count - Self.begun(scene)
      let goal = Self.begun(scene) + left / 3
      #expect(await eventually(within: Self.deadline) { Self.begun(scene) >= goal })
      await services[0].end(SIGKILL)
      let next = min(scene.ids.count, Self.begun(scene) + left / 4)
      // On a busy machine what is left may all be leased by the one that was killed: then there is nothing to wait for.
      let goesOn = try await eventually(within: Self.deadline) {
        if Self.begun(scene) >= next { return true }
        return try await scene.free() == 0
      }
      #expect(goesOn)
      // The other is asked to stop: it finishes what it has begun, and gives back the rest.
      #expect(await services[1].end(SIGTERM) == 0)
      var theirs: [String: Bool] = [:]
      for row in try await scene.database.rows("SELECT subject, begun FROM work WHERE state = 0 AND owner IS NOT NULL")
      {
        theirs[try row.text("subject")] = try row.bool("begun")
      }
      // The leases of the one that was killed end: a quarter of an hour later, but for the test.
      try await scene.database.execute("UPDATE work SET due_at = 1 WHERE state = 0 AND owner IS NOT NULL")
      services = [try await scene.serve()]
      #expect(await eventually(within: Self.deadline) { Self.begun(scene) == scene.ids.count })
      #expect(try await eventually(within: Self.deadline) { try await scene.waiting().isEmpty })
      #expect(await services[0].end(SIGTERM) == 0)
      let states = try await scene.database.rows("SELECT DISTINCT state FROM work").map { row in try row.int("state") }
      #expect(states == [1], "everybody is done")
      let histories = scene.running.historiesBegun
      let asked = scene.ids.map { id in (id, scene.customer(id).flatMap { histories[$0]?.count } ?? 0) }
      #expect(asked.allSatisfy { $0.1 >= 1 }, "nobody is lost")
      let twice = asked.filter { $0.1 > 1 }
      #expect(twice.allSatisfy { theirs[$0.0] == true && $0.1 == 2 }, "\(twice) of \(theirs)")
      if Self.seconds != nil {
        print("soak.limits: \(theirs.count) leased by the one that was killed, \(twice.count) of them asked twice")
      }
    }
  }
}
