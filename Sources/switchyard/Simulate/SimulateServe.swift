import Glibc
import JSON
import Runtime
import Signing
import Simulator
import Time

/// `switchyard simulate --port`: an App Store that answers, in a process of its own.
struct SimulateServe {
  /// Where customers buy.
  enum Place: String, CaseIterable {
    case sandbox, production
  }

  static let options: [Option] = [
    .value("port", "N", "Serve a simulated App Store on this port; 0 picks a free one."),
    .value("address", "ADDRESS", default: "127.0.0.1", "Where to listen, numeric."),
    .value(
      "environment", "NAME", choices: Place.allCases.map(\.rawValue), default: "sandbox",
      "Where the customers of --port buy; the other environment serves too, and is empty."),
    .value("history", "DAYS", default: "300", "So many days of the customers' lives are over when serving begins."),
    .value("as-of", "MILLISECONDS", "The world's time at the beginning, since 1970; the machine's unless given."),
    .value("pace", "N", default: "0", "Seconds of the world in one of the machine's; 0: it stands still until told."),
    .value("notify", "URL", "Send notifications of all apps there; later changes by control."),
    .value("notify-version", "N", choices: ["1", "2"], default: "2", "Of the notifications."),
    .value("parallel", "N", default: "1", "Notifications under way at once; with 1 they arrive in their order."),
    .flag("without-ocsp", "Leave the OCSP responder out of the certificates."),
  ]

  private let directory: String
  private let apps: [String]
  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments, apps: [String]) throws {
    directory = try arguments.required("out")
    self.apps = apps.isEmpty ? ["com.example.inkwell"] : apps
    self.arguments = arguments
  }

  func run(_ terminal: Terminal) async throws -> ExitStatus {
    let clock = WallClock.system
    let world = try world(at: clock.now())
    let running = try RunningAppStore.start(world, settings(), clock: clock)
    if let url = arguments.value("notify") {
      let version = NotificationVersion(rawValue: Int64(arguments.value("notify-version") ?? "2") ?? 2) ?? .v2
      for app in world.apps {
        for environment in [AppStoreEnvironment.production, .sandbox] {
          let place = AppPlace(bundleID: app.app.bundleID, environment: environment)
          running.send(place, to: Destination(url: url, version: version))
        }
      }
    }
    try Self.write(running, to: directory)
    let greeting: JSONObject = [
      "ready": true, "url": .string(running.url(world.apps[0].app.environment)),
      "control": .string(running.controlURL), "world": .string("\(directory)/world.json"),
    ]
    let logger = Logger(
      label: "simulate", level: .info, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    _ = try await ServiceGroup(services: [SimulatedService(store: running)], logger: logger, gracePeriod: .seconds(10))
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

  private func world(at now: Milliseconds) throws -> AppStoreWorld {
    let seed = UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1)
    let customers = try arguments.integer("customers", in: 0...1_000_000) ?? 100
    let days = Int64(try arguments.integer("history", in: 1...3_650) ?? 300)
    let asOf = try arguments.integer("as-of", in: 1_000_000_000_000...4_000_000_000_000)
    let end = asOf.map { Milliseconds(Int64($0)) } ?? now
    let place = try arguments.choice("environment", as: Place.self) ?? .sandbox
    let plans = apps.enumerated().map { index, bundleID in
      var plan = AppPlan.sample(
        bundleID, appAppleID: 1_600_000_000 + Int64(index) * 1_009,
        environment: place == .sandbox ? .sandbox : .production)
      plan.habits = .lively
      plan.customers = customers / apps.count + (index < customers % apps.count ? 1 : 0)
      plan.arrival = .days(max(1, days * 4 / 5))
      return plan
    }
    var world = AppStoreWorld(plan: WorldPlan(apps: plans), seed: seed, start: end - .days(days))
    world.advance(to: end)
    return world
  }

  /// `world.json`, `truth.jsonl`, the roots as files, and the API's key for its owner alone.
  static func write(_ running: RunningAppStore, to directory: String) throws {
    guard FileFacts.makeDirectory(directory) else { throw FileError(directory, reason: "cannot be made") }
    let identity = running.store.identity
    let keyFile = FileFacts.absolute("\(directory)/AuthKey_\(identity.key.keyID).p8")
    _ = unsafe unlink(keyFile)
    try PrivateFile.create(keyFile, contents: identity.key.signingKey.pem())
    try OutputFile("\(directory)/root.der").write(identity.chains.pki.root.certificate.der)
    try OutputFile("\(directory)/receipt-root.der").write(identity.receiptPKI.root.certificate.der)
    let truth = try OutputFile("\(directory)/truth.jsonl")
    for line in running.world.truth() { try truth.write(line.encoded() + [0x0A]) }
    // Last: who waits for it finds the others.
    try OutputFile("\(directory)/world.json").write(running.description(keyFile: keyFile).encoded() + [0x0A])
  }
}

/// The simulated App Store as a part of the process.
struct SimulatedService: Service {
  let store: RunningAppStore

  func run() async throws { try await store.run() }
}
