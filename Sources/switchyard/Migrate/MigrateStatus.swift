import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

enum MigrateStatus {
  static let command = Command(
    "status", "Show a job's progress, rows and ids; without JOB list the jobs.",
    discussion: """
      --watch redraws one line on a terminal until the job ends. Without a terminal it prints a line every 30 s, and with \
      --json JSON lines. A total with ~ is an estimate. The remaining time comes with the limit that causes it.
      """,
    whenStopped: "The job continues.",
    examples: [
      Command.Example("switchyard migrate status"), Command.Example("switchyard migrate status 1 --json"),
      Command.Example("switchyard migrate status 1 --watch"),
    ],
    options: [.flag("watch", "Keep running, and show each change."), JSONOutput.option],
    arguments: [Positional("JOB", count: .optional, MigrateCommand.job.help)]
  ) { arguments, terminal in
    let number = try arguments.positionals.isEmpty ? nil : MigrateCommand.number(arguments)
    let isWatched = arguments.flag("watch")
    guard number != nil || !isWatched else {
      throw UsageError(.missingArgument, "Say which JOB to watch.", path: arguments.path)
    }
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      guard let number else { return try await list(arguments, terminal, connection) }
      return isWatched
        ? try await MigrateWatch.run(number, options, arguments, terminal, connection)
        : try await show(number, options, arguments, terminal, connection)
    }
  }

  private static func show(
    _ number: Int, _ options: DatabaseOptions, _ arguments: ParsedArguments, _ terminal: Terminal,
    _ connection: Connection
  ) async throws -> ExitStatus {
    let now = WallClock.system.now()
    let record = try await MigrationRecord.find(number, at: now, connection)
    let holdUp = record.holdUp(byFile: options.raisedMigrationFlag, at: now)
    let limits =
      record.job.state == .running && holdUp?.isPartial != false
      ? try await MigrationLimit.all(record, idsPerSecond: 0, isHeldUp: false, at: now, connection) : []
    if arguments.wantsJSON {
      var object = MigrationJSON.record(record)
      object["heldUp"] = MigrationJSON.heldUp(holdUp)
      object["secondsLeft"] = JSONValue(limits.first?.seconds)
      object["because"] = JSONValue(limits.first?.cause)
      try terminal.write(object)
    } else {
      try terminal.write(MigrationText.status(record, for: terminal))
      for limit in limits { try terminal.write("\(limit.text)\n") }
      if record.job.state == .running, let holdUp { try terminal.write("\(holdUp.told)\n") }
      if let advice = MigrationText.unattended(record, holdUp) { try terminal.write("\(advice)\n") }
    }
    return .done
  }

  private static func list(
    _ arguments: ParsedArguments, _ terminal: Terminal, _ connection: Connection
  ) async throws -> ExitStatus {
    let jobs = try await connection.read { session throws(DatabaseError) in
      try MigrationJobTable.all(in: session)
    }
    if arguments.wantsJSON {
      for job in jobs { try terminal.write(MigrationJSON.job(job)) }
      return .done
    }
    var table = TextTable([.init("JOB", .right), .init("STATE"), .init("SINCE"), .init("BY"), .init("WHY")])
    for job in jobs {
      table.add(["\(job.id)", job.state.name, job.createdAt.iso8601, job.createdBy, job.trouble ?? ""])
    }
    try terminal.write(table.render(for: terminal))
    return .done
  }
}
