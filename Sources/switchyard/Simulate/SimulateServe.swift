import Glibc
import JSON
import Runtime
import Signing
import Simulator
import Time

/// `switchyard simulate --port`: a served App Store in its own process.
struct SimulateServe {
  static let options: [Option] = [
    .value("port", "N", "Serve a simulated App Store on this port; 0 picks a free one."),
    .value("address", "ADDRESS", default: "127.0.0.1", "Where to listen, numeric."),
    .value("pace", "N", default: "0", "Seconds of the world in one of the machine's; 0: it moves only by `advance`."),
    .value("notify", "URL", "Send notifications of all apps there; later changes by control."),
    .value("notify-version", "N", choices: ["1", "2"], default: "2", "Of the notifications."),
    .value(
      "parallel", "N", default: "1", "Notifications in flight at the same time; with 1 they arrive in their order."),
    .flag("without-ocsp", "Leave the OCSP responder out of the certificates."),
    .flag(
      "keep",
      "Keep the keys, the port and the world's clock in --out for the next start; --as-of counts only at the first start."
    ),
  ]

  /// The world begins behind the machine's clock, so that `advance` has past days.
  private static let behind = Interval.days(60)

  private let directory: String
  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) throws {
    directory = try arguments.required("out")
    self.arguments = arguments
  }

  func run(_ terminal: Terminal) async throws -> ExitStatus {
    let clock = WallClock.system
    guard FileMetadata.makeDirectory(directory) else { throw FileError(directory, reason: "cannot be made") }
    let kept = arguments.flag("keep") ? SavedWorld(in: directory) : nil
    let memory = try kept?.read()
    let options = try WorldOptions(
      arguments, customers: 0...1_000_000, until: clock.now() - Self.behind, keptUntil: memory?.end)
    guard memory.map({ $0.identity == options.identity }) ?? true else {
      throw UsageError(
        .invalidValue,
        "\(directory) keeps another world: --seed, --customers, --app, --environment and --history say which.",
        path: arguments.path)
    }
    let world = options.world(at: memory?.now)
    var settings = try settings()
    try memory?.apply(to: &settings)
    let running = try RunningAppStore.start(world, settings, clock: clock)
    try kept?.keep(running, options)
    if let url = arguments.value("notify") {
      let version = NotificationVersion(rawValue: Int64(arguments.value("notify-version") ?? "2") ?? 2) ?? .v2
      for app in world.apps {
        for environment in [AppStoreEnvironment.production, .sandbox] {
          let place = SimulatedAppScope(bundleID: app.app.bundleID, environment: environment)
          running.send(place, to: Destination(url: url, version: version))
        }
      }
    }
    try await Self.write(running, to: directory)
    let greeting: JSONObject = [
      "ready": true, "url": .string(running.url(world.apps[0].app.environment)),
      "control": .string(running.controlURL), "world": .string("\(directory)/world.json"),
    ]
    let logger = Logger(
      label: "simulate", level: .info, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    let services: [any Service] =
      [SimulatedService(store: running)] + (kept.map { [$0.clock(of: running, options)] } ?? [])
    _ = try await ServiceGroup(services: services, logger: logger, gracePeriod: .seconds(10))
      .run { try terminal.write(greeting) }
    return .done
  }

  private func settings() throws -> RunningAppStore.Settings {
    var settings = RunningAppStore.Settings()
    settings.address = try arguments.required("address")
    settings.port = UInt16(try arguments.integer("port", in: 0...65_535) ?? 0)
    let pace = Int64(try arguments.integer("pace", in: 0...10_000_000) ?? 0)
    settings.pace = pace == 0 ? .stepped : pace == 1 ? .real : .accelerated(pace)
    settings.parallel = try arguments.integer("parallel", in: 1...64) ?? 1
    settings.namesResponder = !arguments.flag("without-ocsp")
    return settings
  }

  /// Writes `world.json`, `receipts.csv`, `truth.jsonl`, the roots as files, and the API's key, readable only by its
  /// owner.
  static func write(_ running: RunningAppStore, to directory: String) async throws {
    guard FileMetadata.makeDirectory(directory) else { throw FileError(directory, reason: "cannot be made") }
    let identity = running.store.identity
    let keyFile = FileMetadata.absolute("\(directory)/AuthKey_\(identity.key.keyID).p8")
    _ = unsafe unlink(keyFile)
    try PrivateFile.create(keyFile, contents: identity.key.signingKey.pem())
    try OutputFile("\(directory)/root.der").write(identity.chains.pki.root.certificate.der)
    try OutputFile("\(directory)/receipt-root.der").write(identity.receiptPKI.root.certificate.der)
    let world = running.world
    let customers = Array(world.customers())
    _ = try await WorldFiles(in: directory, hasNotifications: false).write(customers.count) { number, lines in
      try lines.add(world.state(of: customers[number]), receiptsBy: identity.receiptPKI)
    }
    // Last, so that a reader that waits for it finds the others.
    try OutputFile("\(directory)/world.json").write(running.description(keyFile: keyFile).encoded() + [0x0A])
  }
}

struct SimulatedService: Service {
  let store: RunningAppStore

  func run() async throws { try await store.run() }
}
