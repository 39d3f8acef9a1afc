/// `switchyard simulate --port`: a simulated App Store in this process, or in a process that a test kills.
final class RunningSimulator: Sendable {
  private enum Run {
    case process(pid_t)
    case task(CommandTask)
  }

  private let run: Mutex<Run>
  private let arguments: [String]
  /// Where it wrote `world.json` and what belongs to it.
  let directory: String
  let world: JSONObject

  /// Starts it, runs `body` and ends it, however `body` ends.
  ///
  /// - Parameter isProcess: whether it is a process, which can be killed.
  static func with<R: Sendable>(
    _ arguments: [String], in place: TemporaryDirectory, isProcess: Bool = false,
    _ body: (RunningSimulator) async throws -> R
  ) async throws -> R {
    let directory = "\(place.path)/world"
    let run = try await start(arguments, directory, isProcess: isProcess)
    let world = try? JSONReader.read(Array(Program.text("\(directory)/world.json").utf8)).object
    let simulator = RunningSimulator(run, arguments, directory, world ?? [:])
    let result: Result<R, any Error>
    do { result = .success(try await body(simulator)) } catch { result = .failure(error) }
    await simulator.end(SIGTERM)
    return try result.get()
  }

  private init(_ run: Run, _ arguments: [String], _ directory: String, _ world: JSONObject) {
    self.run = Mutex(run)
    (self.arguments, self.directory, self.world) = (arguments, directory, world)
  }

  private func end(_ signal: Int32) async {
    switch run.withLock({ $0 }) {
    case .process(let id):
      kill(id, signal)
      _ = await Program.ended(id)
    case .task(let task): await task.end()
    }
  }

  /// Kills the process and starts it again.
  ///
  /// With `--keep` it is the same world at the same port.
  func isKilled() async throws {
    await end(SIGKILL)
    let next = try await Self.start(arguments, directory, isProcess: true)
    run.withLock { $0 = next }
  }

  private static func start(_ arguments: [String], _ directory: String, isProcess: Bool) async throws -> Run {
    let now = arguments.contains("--as-of") ? [] : ["--as-of", "\(WallClock.system.now().sinceEpoch)"]
    let (program, words) = (Program(), ["simulate", "--port", "0", "--out", directory] + arguments + now)
    func isReady(_ output: () -> String) async -> Bool {
      await eventually(within: .seconds(120)) { output().contains(#""ready":true"#) }
    }
    guard isProcess else {
      let task = try CommandTask(program, words)
      if await isReady({ task.output }) { return .task(task) }
      await task.end()
      throw RunningProgram.NotReady(notes: task.notes)
    }
    let streams = TemporaryDirectory()
    try program.write([], to: "\(streams.path)/input")
    let id = try program.spawn(words, streams.path)
    if await isReady({ Program.text("\(streams.path)/output") }) { return .process(id) }
    kill(id, SIGKILL)
    _ = await Program.ended(id)
    throw RunningProgram.NotReady(notes: Program.text("\(streams.path)/notes"))
  }

  func word(_ key: String) -> String { world[key]?.string ?? "" }

  /// The root of what it signs.
  var root: String { "\(directory)/root.der" }

  /// The base of Production's paths; the Sandbox's is below it.
  var url: String { word("productionURL") }

  /// What says where Apple is, as every command that asks Apple takes it.
  var environment: [String: String] { ["SWITCHYARD_BASE_URL": url] }

  /// The options of a command that asks it and trusts it.
  var trust: [String] { ["--base-url", url, "--trust-root", root] }

  /// The key of the App Store Server API, as `app add` takes it.
  var key: [String] { ["--key-file", word("keyFile"), "--key-id", word("keyId"), "--issuer", word("issuerId")] }

  /// The shared secret of its first app.
  var secret: String { secrets.first?.value ?? "" }

  /// The shared secrets of its apps, by bundle ID.
  var secrets: [(app: String, value: String)] {
    (world["apps"]?.array ?? []).compactMap(\.object).map {
      ($0["bundleId"]?.string ?? "", $0["sharedSecret"]?.string ?? "")
    }
  }

  /// Registers an app.
  func register(_ app: String, _ program: Program, hasKey: Bool = true) async throws {
    let added = try await program.run(["app", "add", app] + (hasKey ? key : []))
    try #require(added.status == 0, "\(added)")
  }

  @discardableResult
  func control(_ words: String...) async throws -> [JSONObject] {
    let outcome = try await Program().run(["simulate", "control", "--out", directory] + words)
    try #require(outcome.status == 0, "\(outcome)")
    return try outcome.objects
  }

  /// What is true of the app's purchases now, the earliest first.
  func purchases(of app: String) async throws -> [JSONObject] {
    try await control("truth").filter { $0["kind"] == "purchase" && $0["app"]?.string == app }
  }

  /// The receipts of the customers of an app, or of all apps, in base64.
  func receipts(of app: String? = nil) -> [String] {
    let rows = Program.text("\(directory)/receipts.csv").split(separator: "\n").dropFirst()
    return rows.filter { row in app.map { row.hasPrefix($0 + ",") } ?? true }
      .compactMap { $0.split(separator: ",").last.map(String.init) }
  }

  /// The longest receipt of an app's customers, in base64: of one with a subscription.
  func longestReceipt(of app: String) throws -> [UInt8] {
    Array(try #require(receipts(of: app).max { $0.utf8.count < $1.utf8.count }).utf8)
  }

  /// How many calls a fault that is in force has met.
  func matched() async throws -> Int64 {
    let faults = try await control("faults").first?["faults"]?.array ?? []
    return faults.compactMap { $0.object?["matched"]?.integer }.reduce(0, +)
  }
}

extension RunningSimulator {
  /// An App Store whose notifications of the last 45 days were not delivered.
  ///
  /// - Parameter customers: of all apps together; 30 of each by default.
  static func market(
    _ apps: [String], customers: Int? = nil, _ body: (RunningSimulator) async throws -> Void
  ) async throws {
    let now = WallClock.system.now()
    let arguments = [
      "--seed", "5", "--customers", "\(customers ?? 30 * apps.count)", "--history", "60", "--as-of",
      "\((now - .days(45)).sinceEpoch)",
    ]
    try await with(arguments + apps.flatMap { ["--app", $0] }, in: TemporaryDirectory()) { apple in
      for app in apps {
        // No server listens there.
        try await apple.control(
          "destination", "bundleId=\(app)", "environment=Sandbox", "url=http://127.0.0.1:1/none", "version=2")
      }
      try await apple.control("advance", "to=\(now.sinceEpoch)")
      try await body(apple)
    }
  }
}
