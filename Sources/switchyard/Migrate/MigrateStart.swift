import BulkMigration
import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Signing
import Time

/// `switchyard migrate start`: begins a job, and with --here runs it.
enum MigrateStart {
  static let command = Command(
    "start", "Begin a job; processes that serve carry it out.",
    discussion: """
      SOURCE is an input of `switchyard extract`: a table, JSON Lines, a JSON array, one receipt a line, a folder of any \
      of these, compressed or not, or - for stdin, which is kept in the data directory first. It may also \
      hold stored verifyReceipt responses, notifications, signed transactions and bare ids, mixed: each is recognized by \
      its content. A repeated fact counts once; a second user of the same receipt is noted with it.

      Warnings come first, and then nothing is begun: --yes begins in spite of them (exit status 4 without it).
      """,
    whenStopped: "The rows read so far are in the ledger, and nothing counts twice. Running services continue the job.",
    examples: [
      Command.Example("switchyard migrate start receipts.csv.gz", "each receipt names its app"),
      Command.Example("switchyard migrate start dump/ --app com.example.app --environment Production --yes"),
      Command.Example("switchyard migrate start receipts.csv --here", "without a service: this process does it all"),
    ],
    options: [
      .value("app", "APP", "The app of all rows; without it each row names its app."),
      .value("environment", "NAME", "Production or Sandbox, for rows that do not name it, such as bare ids."),
      .flag("yes", "Begin although there are warnings; the report lists them."),
      .flag("here", "Carry it out in this process, and end when it is done."), JSONOutput.option,
    ] + MigrateSources.options + MigrateResume.limits + InlineMigration.options,
    arguments: [Positional("SOURCE", count: .any, "Files and folders, or - for stdin.")]
  ) { arguments, terminal in
    let environment = try EnvironmentOption.environment(arguments)
    let settings = try MigrateResume.settings(arguments)
    let options = try DatabaseOptions(arguments)
    let sources = try MigrateSources(arguments, options)
    return try await begin(arguments, options, terminal, spooled: sources.spooled) { keys in
      let (parts, names) = try await sources.parts(sealedWith: keys)
      return MigrationStartup(
        parts: parts, names: names, bundleID: arguments.value("app"), environment: environment, settings: settings)
    }
  }

  static let apply = Command(
    "apply", "Begin the job that a plan describes.",
    discussion: "A table's password is not in the plan: SWITCHYARD_SOURCE_DATABASE gives it again.",
    whenStopped: "The rows read so far are in the ledger, and nothing counts twice. Running services continue the job.",
    examples: [Command.Example("switchyard migrate apply plan.json --yes")],
    options: [
      .flag("yes", "Begin although there are warnings; the report lists them."),
      .flag("here", "Carry it out in this process, and end when it is done."),
      .value(
        "source-database", "URL", environment: "SWITCHYARD_SOURCE_DATABASE", "The password of a table's database."),
      JSONOutput.option,
    ] + InlineMigration.options,
    arguments: [Positional("PLAN", "The plan of `migrate plan --out`.")]
  ) { arguments, terminal in
    let path = arguments.positionals[0]
    guard let plan = MigrationPlan.Begin(try Input.read(path, limit: 64 << 20)) else {
      throw FileError(path, reason: "it is not a plan; `switchyard migrate plan --out FILE` makes one")
    }
    return try await begin(arguments, try DatabaseOptions(arguments), terminal) { keys in
      let changed = try FileSource.changedFolders(since: plan.parts)
      let parts = try plan.parts.map { part throws in
        guard case .table(let table) = try MigrationSource(stored: part.source),
          let text = arguments.value("source-database")
        else { return part }
        let password: String
        do throws(DatabaseURLError) { password = try DatabaseURL(text).configuration.password } catch {
          throw UsageError(.invalidValue, "--source-database: \(error)", path: arguments.path)
        }
        return table.part(password: password.isEmpty ? nil : password, sealedWith: try keys())
      }
      return MigrationStartup(
        parts: parts, bundleID: plan.bundleID, environment: plan.environment, settings: plan.settings,
        warnings: changed.map { MigrationWarning.changedFolder($0) })
    }
  }

  /// - Parameter spooled: stdin, removed if no job begins; nil if a plan has it, which may be applied again.
  private static func begin(
    _ arguments: ParsedArguments, _ options: DatabaseOptions, _ terminal: Terminal, spooled: SpooledInput? = nil,
    _ find: (() throws -> Keyring) async throws -> MigrationStartup
  ) async throws -> ExitStatus {
    let here = try arguments.flag("here") ? InlineMigration(arguments, options) : nil
    return try await options.withLedger(terminal) { connection in
      var isSourceNeeded = false
      defer { if !isSourceNeeded { spooled?.remove() } }
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let startup = try await find { keys }
      // Before the first write: a job whose source cannot be opened would never end.
      _ = try await SourceCheck.columns(of: startup.parts, named: startup.names) { keys }
      if let text = try await HeaderCheck(startup.parts).text { terminal.note(text) }
      let start = StartMigration(
        startup.parts, of: startup.bundleID, in: startup.environment, settings: startup.settings,
        warnings: startup.warnings)
      let plan = try await start.plan(on: connection)
      let job: Int
      do {
        job = try await start.apply(
          plan, accepting: arguments.flag("yes") ? plan.warnings : [], by: .ofCommand(), at: WallClock.system.now(),
          on: connection)
      } catch let error as DatabaseError where error.code == .commitOutcomeUnknown {
        // A job may exist that reads it.
        isSourceNeeded = true
        throw error
      } catch let refusal as MigrationRefused where arguments.wantsJSON {
        try terminal.write(["job": .null, "warnings": MigrationJSON.warnings(refusal.warnings)])
        throw refusal
      }
      isSourceNeeded = true
      for warning in plan.warnings { terminal.note("warning: \(warning.text)") }
      if arguments.wantsJSON {
        try terminal.write(["job": .integer(Int64(job))])
      } else {
        try terminal.write(
          "migration \(job) is running; `switchyard migrate status \(job) --watch` shows how far it is\n")
      }
      guard let here else { return .done }
      // A job may take days.
      await connection.close()
      return try await here.run(job, on: connection.configuration, terminal)
    }
  }
}

private struct MigrationStartup {
  let parts: [MigrationJobTable.NewPart]
  /// The operator's names of the files and folders, by their absolute paths.
  var names: [String: String] = [:]
  let bundleID: String?
  let environment: Environment?
  let settings: MigrationSettings
  /// Possible problems, in addition to missing settings of the job's apps.
  var warnings: [MigrationWarning] = []
}
