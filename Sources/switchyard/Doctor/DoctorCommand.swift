import Database
import HTTPClient
import JSON
import Ledger
import Runtime
import Signing
import Time

/// `switchyard doctor`: problems of this installation, and their fixes.
enum DoctorCommand {
  static let command = Command(
    "doctor", "Check this installation and say what to do; no data is changed.",
    discussion: """
      One line a check: ok, warn or fail. Exit status: 0 without a failure, 1 with one.

      --public only asks a running service what it shows to strangers: at URL, by default 127.0.0.1:8080. \
      Run it from outside of your network with the URL that Apple posts to.
      """,
    whenStopped: "The other checks were not made.",
    examples: [
      Command.Example("switchyard doctor"), Command.Example("switchyard doctor --json", "for monitoring"),
      Command.Example("switchyard doctor --public https://switchyard.example.com"),
    ],
    options: [.flag("public", "Ask a running service what it shows to strangers."), JSONOutput.option]
      + DatabaseOptions.options + [DiskHeadroom.option] + MasterKeyOptions.options + TrustOptions.options,
    arguments: [Positional("URL", count: .optional, "With --public: where the service is reached.")]
  ) { arguments, terminal in
    guard arguments.flag("public") || arguments.positionals.isEmpty else {
      throw UsageError(.unexpectedArgument, "URL goes with --public.", path: arguments.path)
    }
    if arguments.flag("public") { return try report(await publicChecks(arguments), arguments, terminal) }
    let options = try DatabaseOptions(arguments)
    let trust = try TrustOptions(arguments)
    let clock = WallClock.system
    let key = MasterKeyOptions(arguments, database: options)
    var checks = DirectoryChecks(options, key, headroom: try DiskHeadroom.size(arguments)).all
    checks += RootChecks(trust, now: clock.now()).all
    checks += await database(options, key, clock, terminal)
    return try report(checks, arguments, terminal)
  }

  private static func publicChecks(_ arguments: ParsedArguments) async throws -> [Check] {
    let url = arguments.positionals.first ?? "http://127.0.0.1:8080"
    guard ["http://", "https://"].contains(where: { url.hasPrefix($0) }) else {
      throw UsageError(.invalidValue, "URL is http://… or https://….", path: arguments.path)
    }
    let client = HTTPClient()
    let checks = await PublicChecks(url, client: client).all
    await client.shutdown()
    return checks
  }

  private static func report(
    _ checks: [Check], _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    let worst: Check.Level =
      checks.contains { $0.level == .fail } ? .fail : checks.contains { $0.level == .warn } ? .warn : .ok
    if arguments.wantsJSON {
      let report: JSONObject = ["level": .string(worst.rawValue), "checks": .array(checks.map { .object($0.json) })]
      try terminal.write(report.notingStop)
    } else {
      for check in checks { try terminal.write(check.line + "\n") }
    }
    return worst == .fail ? .failed : .done
  }

  private static func database(
    _ options: DatabaseOptions, _ key: MasterKeyOptions, _ clock: WallClock, _ terminal: Terminal
  ) async -> [Check] {
    if options.url == nil, !EmbeddedServer.hasData(in: options.embeddedDirectory) {
      return [
        .warn("database", "\(options.dataDirectory) holds no database yet", "`switchyard db migrate` makes one")
      ]
    }
    // Never creates a key, which would not open existing data.
    let keys = try? key.load(hasSealed: true) { _ in }
    do {
      return try await options.withDatabase(terminal) { configuration in
        let connection = try await Connection.open(configuration)
        let checks = try await connection.read { session throws(DatabaseError) in
          try DatabaseChecks(session, at: "\(configuration)", isPrivate: options.url == nil, clock).all
            + LedgerChecks(session, keys, now: clock.now()).all
        }
        await connection.close()
        return checks
      }
    } catch {
      // After a stop the error says nothing about the database.
      if Task.isCancelled { return [] }
      return [.fail("database", "\(error)", "start it, or correct --database")]
    }
  }
}
