import Database
import Ledger
import Operations
import Runtime

/// `switchyard migrate resume`: goes on with a job, and with --here carries it out.
enum MigrateResume {
  static let command = Command(
    "resume", "Go on with a paused or failed job, from where it was.",
    discussion: """
      With --here this process carries the job out, where no service runs or beside those that do. A job that is running \
      already is joined.
      """,
    whenStopped: "What was read is in the ledger, and nothing counts twice. Processes that serve go on with the job.",
    examples: [
      Command.Example("switchyard migrate resume 1"),
      Command.Example("switchyard migrate resume 1 --here", "without a service: this process does the rest"),
    ],
    options: [
      .value("reason", "TEXT", "Why, for the audit."),
      .flag("here", "Carry it out in this process, and end when it is done."), JSONOutput.option,
    ] + MigrateHere.options, arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    guard arguments.flag("here") else { return try await MigrateCommand.apply(.resume, arguments, terminal) }
    let number = try MigrateCommand.number(arguments)
    let options = try DatabaseOptions(arguments)
    let here = try MigrateHere(arguments, options)
    return try await options.withLedger(terminal) { connection in
      let job = try await connection.read { session throws(DatabaseError) in
        try MigrationJobTable.find(number, in: session)
      }
      guard let job else { throw NoSuchMigration(id: number) }
      if job.state == .running {
        if arguments.wantsJSON { try terminal.write(MigrationJSON.job(job)) }
      } else {
        try await MigrateCommand.apply(.resume, to: number, on: connection, arguments, terminal)
      }
      // A job may take days.
      await connection.close()
      return try await here.run(number, on: connection.configuration, terminal)
    }
  }
}
