import Glibc
import JSON
import Support
import Synchronization
import Testing
import Time

/// `switchyard simulate --port` as a process of its own: Apple, for programs that ask it.
final class RunningSimulator: Sendable {
  private let id: Mutex<pid_t>
  private let arguments: [String]
  /// Where it wrote `world.json` and what belongs to it.
  let directory: String
  let world: JSONObject

  /// Starts it, runs `body` and ends it, however `body` ends.
  static func with<R: Sendable>(
    _ arguments: [String], in place: TemporaryDirectory, _ body: (RunningSimulator) async throws -> R
  ) async throws -> R {
    let simulator = try await start(arguments, in: place)
    let result: Result<R, any Error>
    do { result = .success(try await body(simulator)) } catch { result = .failure(error) }
    await simulator.end(SIGTERM)
    return try result.get()
  }

  private init(_ arguments: [String], id: pid_t, directory: String, world: JSONObject) {
    self.id = Mutex(id)
    (self.arguments, self.directory, self.world) = (arguments, directory, world)
  }

  private func end(_ signal: Int32) async {
    let id = id.withLock { $0 }
    kill(id, signal)
    _ = await Program.ended(id)
  }

  /// Kills it and starts it again; with `--keep` it is the same world at the same port.
  func isKilled() async throws {
    await end(SIGKILL)
    let id = try await Self.process(arguments, directory).id
    self.id.withLock { $0 = id }
  }

  private static func start(_ arguments: [String], in place: TemporaryDirectory) async throws -> RunningSimulator {
    let directory = "\(place.path)/world"
    let (id, world) = try await process(arguments, directory)
    return RunningSimulator(arguments, id: id, directory: directory, world: world)
  }

  private static func process(
    _ arguments: [String], _ directory: String
  ) async throws -> (id: pid_t, world: JSONObject) {
    let (program, streams) = (Program(), TemporaryDirectory())
    try program.write([], to: "\(streams.path)/input")
    let id = try program.spawn(["simulate", "--port", "0", "--out", directory] + arguments, streams.path)
    let isReady = await eventually(within: .seconds(120)) {
      Program.text("\(streams.path)/output").contains(#""ready":true"#)
    }
    do {
      try #require(isReady, "\(Program.text("\(streams.path)/notes"))")
      let world = try JSONReader.read(Array(Program.text("\(directory)/world.json").utf8)).object
      return (id, try #require(world))
    } catch {
      kill(id, SIGKILL)
      _ = await Program.ended(id)
      throw error
    }
  }

  func word(_ key: String) -> String { world[key]?.string ?? "" }

  /// The root of what it signs.
  var root: String { "\(directory)/root.der" }

  /// The base of Production's paths; the Sandbox's is below it.
  var url: String { word("productionURL") }

  /// What says where Apple is, as every command that asks Apple takes it.
  var environment: [String: String] { ["SWITCHYARD_APP_STORE_URL": url] }

  /// The key of the App Store Server API, as `app add` takes it.
  var key: [String] { ["--key-file", word("keyFile"), "--key-id", word("keyId"), "--issuer", word("issuerId")] }

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

  /// The longest receipt of its customers, in base64: of one with a subscription.
  func longestReceipt() throws -> [UInt8] {
    let rows = Program.text("\(directory)/receipts.csv").split(separator: "\n").dropFirst()
    let receipts = rows.compactMap { $0.split(separator: ",").last.map { Array($0.utf8) } }
    return try #require(receipts.max { $0.count < $1.count })
  }

  /// How many calls a fault that is in force has met.
  func matched() async throws -> Int64 {
    let faults = try await control("faults").first?["faults"]?.array ?? []
    return faults.compactMap { $0.object?["matched"]?.integer }.reduce(0, +)
  }
}
