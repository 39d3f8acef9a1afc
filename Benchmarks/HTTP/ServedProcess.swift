import Database
import Glibc
import JSON
import Ledger
import Runtime
import Signing
import Simulator
import Time

/// A `switchyard serve` of its own: a directory, a private database, one registered app.
final class ServedProcess {
  let port: UInt16
  private let program: ChildProgram
  let database: DatabaseConfiguration
  private let directory: ScratchDirectory

  private init(port: UInt16, program: ChildProgram, database: DatabaseConfiguration, directory: ScratchDirectory) {
    self.port = port
    self.program = program
    self.database = database
    self.directory = directory
  }

  /// The program beside this one, with one registered app.
  ///
  /// - Parameter keepsLog: whether its log is written to a file, as an operator has it, and can be measured.
  static func start(
    trusting pki: ApplePKI, app: SimulatedApp, options: [String] = [], keepsLog: Bool = false
  ) async throws -> ServedProcess {
    let service = try await start(root: pki.root.certificate.der, options: options, keepsLog: keepsLog)
    try await service.register(app)
    return service
  }

  /// The program beside this one, serving on a port of its own choice.
  static func start(root: [UInt8], options: [String] = [], keepsLog: Bool = false) async throws -> ServedProcess {
    let directory = try ScratchDirectory()
    let root = try directory.write(root, to: "root.der")
    let program = try ChildProgram(
      "\(ownDirectory)/switchyard",
      [
        "serve", "--listen", "127.0.0.1:0", "--data-dir", "\(directory.path)/data", "--trust-root", root,
        "--trust-root", "Sandbox", "--log-level", keepsLog ? "info" : "warning",
      ] + options, errors: keepsLog ? "\(directory.path)/\(logName)" : nil)
    guard let line = program.line(), let ready = try? JSONReader.read(Array(line.utf8)).object,
      let url = ready["url"]?.string, let port = url.split(separator: ":").last.flatMap({ UInt16($0) })
    else { throw BenchmarkError("switchyard serve did not say where it listens; build it with -c release first") }
    guard let database = try EmbeddedServer.configuration(ofRunningIn: "\(directory.path)/data/database") else {
      throw BenchmarkError("switchyard serve has no database in \(directory.path)")
    }
    return ServedProcess(port: port, program: program, database: database, directory: directory)
  }

  /// Registers the shared secret by which V1 notifications of `app` are believed.
  func register(secret: String, of app: SimulatedApp) throws {
    let file = try directory.write(Array(secret.utf8), to: "\(app.bundleID).secret")
    try run(["app", "secret", app.bundleID, "--file", file])
  }

  /// Registers the key with which Apple is asked about `app`.
  func register(_ key: DeveloperKey, of app: SimulatedApp) throws {
    let file = try directory.write(key.signingKey.pem(), to: "\(app.bundleID).p8")
    try run(["app", "add", app.bundleID, "--key-file", file, "--key-id", key.keyID, "--issuer", key.issuerID])
  }

  /// Names the old back end of `app` in the sandbox, or `off`.
  func forward(_ app: SimulatedApp, to url: String) throws {
    try run(["app", "legacy-url", app.bundleID, "--environment", "Sandbox", url])
  }

  /// Moves `app` to a stage in the sandbox.
  func setStage(_ stage: String, of app: SimulatedApp) throws {
    try run([
      "rollout", "set", app.bundleID, stage, "--environment", "Sandbox", "--force", "--reason", "benchmark",
    ])
  }

  /// Runs `switchyard` with its ledger, and waits until it is done.
  func run(_ arguments: [String]) throws {
    let data = ["--data-dir", "\(directory.path)/data"]
    let program = try ChildProgram("\(Self.ownDirectory)/switchyard", arguments + data)
    guard program.wait() == 0 else {
      throw BenchmarkError("switchyard \(arguments.prefix(2).joined(separator: " ")) failed")
    }
  }

  private static let logName = "log"

  /// How long its log is, in bytes; with `keepsLog`.
  func logBytes() throws -> Int { try Input.read("\(directory.path)/\(Self.logName)", limit: 1 << 30).count }

  /// Where it is, for those who attack it meanwhile.
  var target: Target { Target(port: port, id: program.id) }

  struct Target: Sendable {
    let port: UInt16
    let id: pid_t

    /// Whether it is running.
    var isRunning: Bool { kill(id, 0) == 0 }

    /// Lets it have so many more open files than it has now; nil: as many as it may have.
    func limitFiles(_ more: Int?) throws {
      let now = Files.names(in: "/proc/\(id)/fd").count
      let limits = String(decoding: try Input.read("/proc/\(id)/limits", limit: 64 << 10), as: UTF8.self)
      let most = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }?
        .split(separator: " ").dropFirst(4).first
      let soft = more.map { "\(now + $0)" } ?? most.map(String.init) ?? "1024"
      guard try ChildProgram("prlimit", ["--pid", "\(id)", "--nofile=\(soft):"]).wait() == 0 else {
        throw BenchmarkError("no prlimit")
      }
    }
  }

  /// Rows in the inbox.
  func storedMessages() async throws -> Int {
    let connection = try await Connection.open(database)
    let count = try await connection.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS messages FROM inbox").first?.int("messages") ?? 0
    }
    await connection.close()
    return count
  }

  /// What quarantine keeps.
  func quarantine() async throws -> [QuarantineSource: QuarantineUsage] {
    let connection = try await Connection.open(database)
    let usage = try await connection.read { session throws(DatabaseError) in try QuarantineTable.usage(in: session) }
    await connection.close()
    return usage
  }

  /// The most memory it ever had, in megabytes; its database not counted.
  func peakMemory() throws -> Double { try ProcessFigures(id: program.id).peakMegabytes() }

  /// Begins to measure the peak anew, from what it has now.
  func resetPeakMemory() throws { try ProcessFigures(id: program.id).resetPeak() }

  /// Seconds on a core so far, of the service and of its database.
  func processorSeconds() throws -> (service: Double, database: Double) {
    let service = ProcessFigures(id: program.id)
    return (
      try service.processorSeconds(), try service.descendants().reduce(0) { $0 + (try $1.processorSeconds()) }
    )
  }

  func stop() throws {
    let code = program.stop()
    guard code == 0 else { throw BenchmarkError("switchyard serve ended with \(code)") }
  }

  func register(_ app: SimulatedApp) async throws {
    let connection = try await Connection.open(database)
    _ = try await connection.transaction { session throws(DatabaseError) in
      try AppTable.add(
        bundleID: app.bundleID, appAppleID: app.appAppleID, at: NotificationSamples.start, in: session)
    }
    await connection.close()
  }

  static var ownDirectory: String {
    var path = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    return String(decoding: path.prefix(max(0, count)), as: UTF8.self).split(separator: "/").dropLast()
      .reduce("") { "\($0)/\($1)" }
  }
}
