import Database
import Ledger
import Operations
import Runtime

/// `switchyard migrate resume`: resumes a job, optionally with other limits, and with --here runs it.
enum MigrateResume {
  static let limits: [Option] = [
    .value(
      "customers-per-second", "N",
      "Customers asked about in a second at most, by two calls mostly; 0: as many as Apple allows."),
    .value("rows", "N", "Rows read in a second at most; 0: no limit."),
    .value("hours", "FROM-TO", "Work only from this hour of the day to that one, in UTC, as 22-6; `all`: all day."),
  ]

  static let command = Command(
    "resume", "Resume a paused or failed job, or change the limits of a job.",
    discussion: """
      A named limit holds from now on, also in a running job; the others stay. With --here this process carries \
      the job out, without a service or in parallel with it. A job that is running already is joined.
      """,
    whenStopped: "The rows read so far are in the ledger, and nothing counts twice. Running services continue the job.",
    examples: [
      Command.Example("switchyard migrate resume 1"),
      Command.Example("switchyard migrate resume 1 --rows 500 --hours 22-6", "slower, and only at night"),
      Command.Example("switchyard migrate resume 1 --customers-per-second 0 --hours all", "no limits"),
      Command.Example("switchyard migrate resume 1 --here", "without a service: this process does the rest"),
    ],
    options: limits + [
      .value("reason", "TEXT", "Why, for the audit."),
      .flag("here", "Carry it out in this process, and end when it is done."), JSONOutput.option,
    ] + InlineMigration.options, arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    let number = try MigrateCommand.number(arguments)
    let options = try DatabaseOptions(arguments)
    let here = try arguments.flag("here") ? InlineMigration(arguments, options) : nil
    return try await options.withLedger(terminal) { connection in
      let job = try await connection.read { session throws(DatabaseError) in
        try MigrationJobTable.find(number, in: session)
      }
      guard let job else { throw NoSuchMigration(id: number) }
      var changes: [ChangeMigration.Change] = []
      if limits.contains(where: { arguments.value($0.name) != nil }) {
        changes.append(.throttle(try settings(arguments, from: job.settings)))
      }
      if job.state != .running || changes.isEmpty && here == nil { changes.append(.resume) }
      if !changes.isEmpty {
        try await MigrateCommand.apply(changes, to: number, on: connection, arguments, terminal)
      } else if arguments.wantsJSON {
        try terminal.write(MigrationJSON.job(job))
      }
      guard let here else { return .done }
      // A job may take days.
      await connection.close()
      return try await here.run(number, on: connection.configuration, terminal)
    }
  }

  static func settings(
    _ arguments: ParsedArguments, from settings: MigrationSettings = MigrationSettings()
  ) throws(UsageError) -> MigrationSettings {
    var settings = settings
    if let calls = try arguments.integer("customers-per-second", in: 0...1_000_000) {
      settings.callsPerSecond = calls == 0 ? nil : calls
    }
    if let rows = try arguments.integer("rows", in: 0...10_000_000) { settings.rowsPerSecond = rows == 0 ? nil : rows }
    if let hours = arguments.value("hours") {
      settings.hours = MigrationHours(hours)
      guard hours == "all" || settings.hours != nil else {
        throw UsageError(
          .invalidValue, "--hours takes two hours of the day from 0 to 24, as 22-6, or `all`.", path: arguments.path)
      }
    }
    return settings
  }
}
