import Adapter
import Database
import Ledger
import Runtime
import Service
import Signing
import Simulator
import Time

/// `switchyard dev`: a service with a simulated Apple beside it, for trying things.
enum DevCommand {
  static let command = Command(
    "dev", "Run the service with a simulated Apple, and a story if you like.",
    discussion: """
      Everything `serve` does, trusting besides Apple a root made here (for Sandbox only, kept in --data-dir). --story \
      registers two made-up apps, sends what happens to their customers in five months, with mistakes and forgeries \
      among it, and prints what was stored and what was refused and why.
      """,
    examples: [
      Command.Example("switchyard dev --story", "play the story, then serve until Ctrl-C"),
      Command.Example("switchyard dev --story --once", "play the story and end"),
    ],
    options: [
      .flag("story", "Send the story of two apps."),
      .flag("once", "End after the story; exit status 0 when everything went as it should."),
      .value("samples", "DIRECTORY", "Also hand in a real answer of Apple's from these samples, when they are there."),
    ] + ServeOptions.options + DatabaseOptions.options + MasterKeyOptions.options
  ) { arguments, terminal in
    let options = try ServeOptions(arguments)
    let database = try DatabaseOptions(arguments)
    let now = WallClock.system.now()
    let pki = try simulatedApple(in: database.dataDirectory, now: now)
    let logger = Logger(
      label: "switchyard", level: arguments.flag("story") ? max(options.logLevel, .warning) : options.logLevel,
      handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    let roots = TrustedRoots.apple.adding([try pki.trustedRoot()], for: .sandbox)
    if arguments.flag("story") { terminal.note("Starting a database and the service…") }
    let running = try await RunningInstallation.start(
      options.settings, database: database, migrates: true,
      keys: { hasSealed, note in
        try MasterKeyOptions(arguments, database: database).load(hasSealed: hasSealed, note: note)
      },
      adapter: Adapter(verifier: SignedDataVerifier(roots: roots)), logger: logger)

    guard arguments.flag("story") else {
      try terminal.write(running.greeting)
      _ = try await ServiceGroup(services: running.services, logger: logger).run()
      return .done
    }
    let story = StoryPlay(
      story: .twoApps(seed: UInt64(bitPattern: now.sinceEpoch), start: now - .days(160)), pki: pki,
      samples: arguments.value("samples"), url: running.url, pool: running.installation.ledger.pool, now: now,
      terminal: terminal, staysAfterwards: !arguments.flag("once"))
    // The story is the last service: when it ends without staying, the others stop after it.
    _ = try await ServiceGroup(services: running.services + [story], logger: logger).run()
    return story.wentAsExpected ? .done : .failed
  }

  /// The PKI of this data directory, made at the first run: what an earlier story stored still verifies later.
  static func simulatedApple(in directory: String, now: Milliseconds) throws -> ApplePKI {
    _ = FileFacts.makeDirectory(directory)
    let files = PKIDirectory(path: "\(directory)/simulated-apple")
    if files.exists { return try files.load() }
    let pki = try ApplePKI.generate(at: now)
    try files.save(pki)
    return pki
  }
}
