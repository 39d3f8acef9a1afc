/// Three processes of the service on one database, beside one simulated App Store, and an app of which everything is known.
struct ThreeServices {
  static let app = "com.example.three"

  let database: TestDatabase
  let program: Program
  let services: [RunningProgram]
  let client: HTTPClient
  /// A request about each customer, to which Apple answers 0.
  let bodies: [[UInt8]]

  /// The path of verifyReceipt in the environment of the app's customers.
  private static let path = "/sandbox/verifyReceipt"

  var urls: [String] { services.map { $0.url + Self.path } }

  /// Runs `body` in the stage `record`, and ends the services, however it ends.
  static func with(_ body: (ThreeServices) async throws -> Void) async throws {
    let database = try await TestDatabase.migrated()
    let world = ["--customers", "30", "--history", "60", "--seed", "11", "--app", app]
    try await RunningSimulator.with(world, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_VERIFY_RECEIPT_URL"] = apple.url + "/verifyReceipt"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_SANDBOX_URL"] = apple.url + path
      program.environment.merge(apple.environment) { $1 }
      let secret = apple.secret
      let file = database.place.file("secret.txt", Array((secret + "\n").utf8))
      let added = try await program.run(["app", "add", app, "--shared-secret-file", file] + apple.key)
      try #require(added.status == 0, "\(added)")
      let client = HTTPClient()
      var services: [RunningProgram] = []
      let result: Result<Void, any Error>
      do {
        for _ in 0..<3 { services.append(try await serve(program, apple)) }
        let bodies = try await requests(of: apple, secret, to: services[0], client)
        try await expectKnown(in: database)
        let three = ThreeServices(
          database: database, program: program, services: services, client: client, bodies: bodies)
        try await body(three)
        result = .success(())
      } catch { result = .failure(error) }
      await client.shutdown()
      for service in services {
        let status = await service.end(SIGTERM)
        #expect(status == 0, "\(service.notes.suffix(4_000))")
      }
      try result.get()
    }
  }

  private static func serve(_ program: Program, _ apple: RunningSimulator) async throws -> RunningProgram {
    try await RunningProgram.serve(
      program,
      [
        "--trust-root", apple.root, "--trust-root", "\(apple.directory)/receipt-root.der",
        // The clients are one back end: nobody's limit for one address counts.
        "--back-end-networks", "127.0.0.0/8", "--reconcile-every", "0", "--heartbeat-every", "0", "--log-level",
        "warning",
      ])
  }

  /// Asks about everybody once, in the stage `record`: so the service learns of whom Apple is to be asked.
  private static func requests(
    of apple: RunningSimulator, _ secret: String, to service: RunningProgram, _ client: HTTPClient
  ) async throws -> [[UInt8]] {
    // App receipts are DER; those of iOS 6 are property lists, and sign no environment.
    let receipts = apple.receipts().filter { $0.hasPrefix("MI") }
    var bodies: [[UInt8]] = []
    for receipt in receipts {
      let body = (["receipt-data": .string(receipt), "password": .string(secret)] as JSONObject).encoded()
      let answer = try await client.send(
        ClientRequest(
          method: "POST", url: service.url + path, body: body, deadline: .seconds(90), responseLimit: 8 << 20))
      #expect(answer.headers["Switchyard-Answered-By"] == "apple")
      if try JSONReader.read(answer.body).object?["status"]?.integer == 0 { bodies.append(body) }
    }
    try #require(bodies.count >= 15, "\(bodies.count) of \(receipts.count)")
    return bodies
  }

  /// Waits until Apple's history of everybody was asked for.
  private static func expectKnown(in database: TestDatabase) async throws {
    let isKnown = try await eventually(within: .seconds(120)) {
      let rows = try await database.rows(
        "SELECT (SELECT COUNT(*) FROM work WHERE state = 0) AS waiting, (SELECT COUNT(*) FROM histories) AS known")
      guard let row = rows.first else { return false }
      return try row.int("waiting") == 0 && row.int("known") > 0
    }
    #expect(isKnown)
  }

  /// A change of the stage.
  struct Change {
    /// When it was committed: the command waits afterwards.
    let committed: ContinuousClock.Instant
    /// How many services followed, and did not, by the word of the command.
    let following: Int64
    let behind: Int64
  }

  /// Runs a command about the app in the environment of its customers.
  func command(_ words: String...) async throws -> Change {
    let outcome = try await program.run(words + ["--environment", "Sandbox", "--reason", "test", "--json"])
    let now = ContinuousClock.now
    try #require(outcome.status == 0, "\(outcome)")
    let told = try outcome.objects.last?["services"]?.object
    return Change(
      committed: now - .milliseconds(told?["milliseconds"]?.integer ?? 0), following: told?["following"]?.integer ?? 0,
      behind: told?["behind"]?.integer ?? 0)
  }

  /// Who answers a request about each customer that is sent to this service now.
  func sources(of service: Int) async throws -> [String?] {
    try await withThrowingTaskGroup(of: String?.self) { group in
      for body in bodies {
        let request = ClientRequest(
          method: "POST", url: urls[service], body: body, deadline: .seconds(90), responseLimit: 8 << 20)
        group.addTask { [client] in try await client.send(request).headers["Switchyard-Answered-By"] }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// How many answers each service was given to compare so far, whatever became of them.
  func compared() async throws -> [Int] {
    let calls = try await values(of: "switchyard_shadow_calls_total{")
    try #require(calls.allSatisfy { !$0.isEmpty })
    return calls.map { $0.reduce(0, +) }
  }

  /// What the guard of each service last found: 0 too few customers, 1 sound, 2 breached; nil before it found anything.
  func guardStates() async throws -> [Int?] {
    try await values(of: "switchyard_guard_state{app=\"\(Self.app)\",environment=\"Sandbox\"} ").map(\.first)
  }

  /// By service the values of its metrics whose lines begin so.
  private func values(of beginning: String) async throws -> [[Int]] {
    var values: [[Int]] = []
    for service in services {
      let page = try await client.send(ClientRequest(url: service.url + "/metrics", deadline: .seconds(60))).body
      let lines = String(decoding: page, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix(beginning) }
      values.append(lines.map { $0.split(separator: " ").last.flatMap { Int($0) } ?? 0 })
    }
    return values
  }
}
