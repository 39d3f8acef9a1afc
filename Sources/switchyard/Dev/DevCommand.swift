import Adapter
import AppStore
import Database
import Ledger
import Receipts
import Reconciliation
import Runtime
import Service
import Signing
import Simulator
import Time

/// `switchyard dev`: a service with a simulated Apple, for trials.
enum DevCommand {
  static let command = Command(
    "dev", "Run the service with a simulated Apple, and a story if you like.",
    discussion: """
      Everything `serve` does, with a root made here in addition to Apple's (for Sandbox only, kept in --data-dir). --story \
      plays 40 days of two made-up apps instead: a simulated App Store posts V1 and V2 notifications, one app goes from \
      V1 to V2 in between, a back end receives the forwarded messages, two forgeries come and one message is lost; the other \
      app goes live, and its old client's verifyReceipt is answered while Apple's is switched off; then \
      the ledger is compared with the truth. Its root counts for Production, only in that process, \
      and its key ends with it: do not play it on a database that matters.
      """,
    examples: [
      Command.Example("switchyard dev --story", "play the story, then serve until Ctrl-C"),
      Command.Example("switchyard dev --story --once", "play the story and end"),
    ],
    options: [
      .flag("story", "Play the story of two apps."),
      .flag("once", "End after the story; exit status 0 when everything went as it should."),
      .value("samples", "DIRECTORY", "Also hand in a real response from Apple of these samples, if they exist."),
    ] + ServeOptions.options + DatabaseOptions.options + MasterKeyOptions.options
  ) { arguments, terminal in
    let database = try DatabaseOptions(arguments)
    guard arguments.flag("story") else {
      let pki = try SimulatedApple.pki(in: database.dataDirectory, now: WallClock.system.now())
      let roots = TrustedRoots.apple.adding([try pki.trustedRoot()], for: .sandbox)
      guard let running = try await start(try ServeOptions(arguments), roots, .apple, arguments, terminal) else {
        return .done
      }
      _ = try await ServiceGroup(services: running.services, logger: logger(arguments, terminal)).run {
        try terminal.write(running.greeting)
      }
      return .done
    }
    return try await tell(arguments, database, terminal)
  }

  private static func tell(
    _ arguments: ParsedArguments, _ database: DatabaseOptions, _ terminal: Terminal
  ) async throws -> ExitStatus {
    terminal.note("Starting a database, the service and a simulated App Store…")
    let now = WallClock.system.now()
    let appStore = try RunningAppStore.start(
      DemoRunner.world(at: now), RunningAppStore.Settings(), clock: .system)
    let directory = "\(database.dataDirectory)/simulated-app-store"
    _ = FileMetadata.makeDirectory(database.dataDirectory)
    try await SimulateServe.write(appStore, to: directory)
    var options = try ServeOptions(arguments)
    options.settings.verifyReceipt.production = appStore.productionURL + "/verifyReceipt"
    options.settings.verifyReceipt.sandbox = appStore.sandboxURL + "/verifyReceipt"
    // Only this process has the key of this root, which ends with it.
    let root = try appStore.store.identity.chains.pki.trustedRoot()
    let roots = TrustedRoots(appleAndAlsoTrustedForProduction: [root])
    var asking = AppStoreSettings(verifier: SignedDataVerifier(roots: roots))
    asking.hosts = AppStoreHosts(simulator: appStore.productionURL)
    asking.bounds = { .unknown($0) }
    (asking.reconcileEvery, asking.heartbeatEvery, asking.refundSweepEvery) = (nil, nil, nil)
    options.settings.appStore = asking
    let receipts = ReceiptTrust.apple.addingAlsoForProduction([try appStore.store.identity.receiptPKI.trustedRoot()])
    guard let running = try await start(options, roots, receipts, arguments, terminal) else { return .failed }
    let oldBackEnd = DemoBackEnd()
    let stage = DemoRunner.Stage(
      appStore: appStore, oldBackEnd: oldBackEnd, oldBackEndURL: try oldBackEnd.start(), running: running,
      samples: arguments.value("samples"), directory: directory,
      databaseOptions: database.dataDirectory == ".switchyard" ? "" : " --data-dir \(database.dataDirectory)")
    let story = DemoRunner(stage, at: now, terminal: terminal, staysAfterwards: !arguments.flag("once"))
    // The story is the last service: when it ends without staying, the others stop after it.
    let services: [any Service] =
      running.services + [oldBackEnd, SimulatedService(store: appStore), story]
    _ = try await ServiceGroup(services: services, logger: logger(arguments, terminal)).run()
    return story.wentAsExpected ? .done : .failed
  }

  private static func start(
    _ options: ServeOptions, _ roots: TrustedRoots, _ receipts: ReceiptTrust, _ arguments: ParsedArguments,
    _ terminal: Terminal
  ) async throws -> RunningInstallation? {
    let database = try DatabaseOptions(arguments)
    let logger = try logger(arguments, terminal)
    return try await ServiceGroup.start(logger: logger) {
      try await RunningInstallation.start(
        options.settings, database: database, migrates: true,
        key: MasterKeyOptions(arguments, database: database),
        adapter: MessageDecoder(
          verifier: SignedDataVerifier(roots: roots, revocations: options.settings.revocations),
          receipts: ReceiptReader(trust: receipts)),
        logger: logger)
    }
  }

  /// Creates a logger that does not interrupt a story with informational events.
  private static func logger(_ arguments: ParsedArguments, _ terminal: Terminal) throws -> Logger {
    let level = try ServeOptions(arguments).logLevel
    return Logger(
      label: "switchyard", level: arguments.flag("story") ? max(level, .warning) : level,
      handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
  }
}
