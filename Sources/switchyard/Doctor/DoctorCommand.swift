import Database
import JSON
import Ledger
import Runtime
import Signing
import Time

/// `switchyard doctor`: what is wrong here, and what to do about it.
enum DoctorCommand {
  static let command = Command(
    "doctor", "Check this installation and say what to do; no data is changed.",
    discussion: "One line a check: ok, warn or fail. Exit status: 0 without a failure, 1 with one.",
    whenStopped: "The other checks were not made.",
    examples: [
      Command.Example("switchyard doctor"), Command.Example("switchyard doctor --json", "for monitoring"),
    ],
    options: [JSONOutput.option] + DatabaseOptions.options + [DiskHeadroom.option] + MasterKeyOptions.options
      + TrustOptions.options
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let trust = try TrustOptions(arguments)
    let clock = WallClock.system
    let key = MasterKeyOptions(arguments, database: options)
    var checks = DirectoryChecks(options, key, headroom: try DiskHeadroom.size(arguments)).all
    checks += RootChecks(trust, now: clock.now()).all
    checks += await database(options, key, clock, terminal)
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
        .warn("database", "there is none in \(options.dataDirectory) yet", "`switchyard db migrate` makes one")
      ]
    }
    // Not made here: what is sealed under another one would not open.
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
      // Whatever it is then, it says nothing of the database.
      if Task.isCancelled { return [] }
      return [.fail("database", "\(error)", "start it, or mend --database")]
    }
  }
}
