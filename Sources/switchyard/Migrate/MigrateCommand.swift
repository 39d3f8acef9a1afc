import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

/// `switchyard migrate`: every old receipt becomes a seed, and every seed becomes history.
enum MigrateCommand {
  static let command = Command(
    "migrate", "Turn stored receipts into purchase history, as a job.",
    discussion: """
      A job is in the ledger. Every process that serves on it works on it; a file is read by those that see its path. \
      However processes end, nothing is lost and nothing counts twice. docs/migration.md says which check catches which \
      loss.
      """,
    examples: [
      Command.Example("switchyard migrate plan receipts.csv.gz --out plan.json", "what would it take?"),
      Command.Example("switchyard migrate start receipts.csv.gz"),
      Command.Example("switchyard migrate watch 1", "how far is it?"),
      Command.Example("switchyard migrate report 1 > report.md"),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      MigratePlan.command, MigrateStart.command, MigrateStart.apply, status, MigrateWatch.command, list, pause,
      MigrateResume.command, MigrateThrottle.command, cancel, MigrateRejects.command, MigrateReport.command,
      MigrateVerify.command,
    ])

  static let job = Positional("JOB", "The number that `migrate start` printed.")

  static func number(_ arguments: ParsedArguments) throws(UsageError) -> Int {
    guard let number = Int(arguments.positionals[0]), number > 0 else {
      throw UsageError(
        .invalidValue, "JOB is a number, as `switchyard migrate list` shows it.", path: arguments.path)
    }
    return number
  }

  private static let status = Command(
    "status", "Say how far a job is, and what became of its rows and ids.",
    examples: [Command.Example("switchyard migrate status 1"), Command.Example("switchyard migrate status 1 --json")],
    options: [JSONOutput.option], arguments: [job]
  ) { arguments, terminal in
    let number = try number(arguments)
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
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
  }

  private static let list = Command(
    "list", "List the jobs.", examples: [Command.Example("switchyard migrate list")],
    options: [JSONOutput.option]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
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

  private static let pause = changing(
    "pause", "Let nothing more be read or asked about; what is under way ends.", .pause,
    reason: "Why: kept in the audit and shown in status.")
  private static let cancel = changing(
    "cancel", "End a job for good, and say what it leaves out. What is in the ledger stays.",
    .cancel)

  private static func changing(
    _ name: String, _ summary: String, _ change: ChangeMigration.Change, reason: String = "Why, for the audit."
  ) -> Command {
    Command(
      name, summary, examples: [Command.Example("switchyard migrate \(name) 1")],
      options: [.value("reason", "TEXT", reason), JSONOutput.option], arguments: [job]
    ) { arguments, terminal in
      try await apply(change, arguments, terminal)
    }
  }

  /// Makes a change and says how the job stands.
  static func apply(
    _ change: ChangeMigration.Change, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let number = try number(arguments)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      try await apply(change, to: number, on: connection, arguments, terminal)
      return .done
    }
  }

  /// The same on a connection that is there.
  static func apply(
    _ change: ChangeMigration.Change, to number: Int, on connection: Connection, _ arguments: ParsedArguments,
    _ terminal: Terminal
  ) async throws {
    let changing = ChangeMigration(change, of: number)
    // An empty reason is none.
    let reason = arguments.value("reason").flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    let job: MigrationJob
    do {
      job = try await changing.apply(
        changing.plan(on: connection), by: .ofCommand(because: reason),
        at: WallClock.system.now(), on: connection)
    } catch let refusal as MigrationNotChanged where arguments.wantsJSON {
      try terminal.write([
        "job": .integer(Int64(refusal.id)), "state": .string(refusal.state.name),
        "refused": .string(refusal.description),
      ])
      throw refusal
    }
    var rest: (ids: Int, text: String?) = (0, nil)
    if job.state == .cancelled {
      let record = try await MigrationRecord.find(number, at: WallClock.system.now(), connection)
      rest = (record.unasked, record.rest)
    }
    var throttled: (record: MigrationRecord, holdUp: MigrationHoldUp?)?
    if case .throttle = change {
      let now = WallClock.system.now()
      let record = try await MigrationRecord.find(number, at: now, connection)
      throttled = (record, record.holdUp(byFile: try DatabaseOptions(arguments).raisedMigrationFlag, at: now))
    }
    if arguments.wantsJSON {
      var object = MigrationJSON.job(job)
      if let throttled { object["heldUp"] = MigrationJSON.heldUp(throttled.holdUp) }
      if job.state == .cancelled { object["notLookedUp"] = .integer(Int64(rest.ids)) }
      if let text = rest.text { object["rest"] = .string(text) }
      try terminal.write(object)
    } else if let throttled {
      let state = job.state == .running ? "" : "; it is \(job.state.name)"
      try terminal.write("migration \(number) has \(MigrationText.limits(job.settings))\(state)\n")
      if job.state == .running, let holdUp = throttled.holdUp { try terminal.write("\(holdUp.told)\n") }
      if let advice = MigrationText.unattended(throttled.record, throttled.holdUp) { terminal.note(advice) }
    } else {
      try terminal.write("migration \(number) is \(job.state.name)\n")
      if let text = rest.text { terminal.note(text) }
    }
  }
}
