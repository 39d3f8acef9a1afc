import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

/// `switchyard migrate`: makes each old receipt a seed, and loads each seed's history.
enum MigrateCommand {
  static let command = Command(
    "migrate", "Turn stored receipts into purchase history, as a job.",
    discussion: """
      A job is in the ledger. Every process that serves on it works on it; a file is read by those that see its path. \
      However processes end, nothing is lost and nothing counts twice. docs/migrate.md says which check catches which \
      loss.
      """,
    examples: [
      Command.Example("switchyard migrate plan receipts.csv.gz --out plan.json", "what would it take?"),
      Command.Example("switchyard migrate start receipts.csv.gz"),
      Command.Example("switchyard migrate status 1 --watch", "how far is it?"),
      Command.Example("switchyard migrate report 1 > report.md"),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      MigratePlan.command, MigrateStart.command, MigrateStart.apply, MigrateStatus.command, pause,
      MigrateResume.command, cancel, MigrateReport.command, MigrateVerify.command,
    ])

  static let job = Positional("JOB", "The number that `migrate start` printed.")

  static func number(_ arguments: ParsedArguments) throws(UsageError) -> Int {
    guard let number = Int(arguments.positionals[0]), number > 0 else {
      throw UsageError(
        .invalidValue, "JOB is a number, as `switchyard migrate status` shows it.", path: arguments.path)
    }
    return number
  }

  private static let pause = changing(
    "pause", "Stop reading and asking; work in progress ends.", .pause,
    reason: "Why: kept in the audit and shown in status.")
  private static let cancel = changing(
    "cancel", "End a job for good, and show what it leaves out. The ledger keeps its data.",
    .cancel)

  private static func changing(
    _ name: String, _ summary: String, _ change: ChangeMigration.Change, reason: String = "Why, for the audit."
  ) -> Command {
    Command(
      name, summary, examples: [Command.Example("switchyard migrate \(name) 1")],
      options: [.value("reason", "TEXT", reason), JSONOutput.option], arguments: [job]
    ) { arguments, terminal in
      let number = try number(arguments)
      return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
        try await apply([change], to: number, on: connection, arguments, terminal)
        return .done
      }
    }
  }

  static func apply(
    _ changes: [ChangeMigration.Change], to number: Int, on connection: Connection, _ arguments: ParsedArguments,
    _ terminal: Terminal
  ) async throws {
    // Treat an empty reason as missing.
    let reason = arguments.value("reason").flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    var setsLimits = false
    do {
      for change in changes {
        if case .throttle = change { setsLimits = true }
        let changing = ChangeMigration(change, of: number)
        _ = try await changing.apply(
          changing.plan(on: connection), by: .ofCommand(because: reason), at: WallClock.system.now(), on: connection)
      }
    } catch let refusal as MigrationNotChanged where arguments.wantsJSON {
      try terminal.write([
        "job": .integer(Int64(refusal.id)), "state": .string(refusal.state.name),
        "refused": .string(refusal.description),
      ])
      throw refusal
    }
    let now = WallClock.system.now()
    let record = try await MigrationRecord.find(number, at: now, connection)
    let job = record.job
    let holdUp = setsLimits ? record.holdUp(byFile: try DatabaseOptions(arguments).raisedMigrationFlag, at: now) : nil
    if arguments.wantsJSON {
      var object = MigrationJSON.job(job)
      if setsLimits { object["heldUp"] = MigrationJSON.heldUp(holdUp) }
      if job.state == .cancelled { object["notLookedUp"] = .integer(Int64(record.unasked)) }
      if job.state == .cancelled, let text = record.rest { object["rest"] = .string(text) }
      return try terminal.write(object)
    }
    let limits = setsLimits ? ", with \(MigrationText.limits(job.settings))" : ""
    try terminal.write("migration \(number) is \(job.state.name)\(limits)\n")
    if job.state == .cancelled, let text = record.rest { terminal.note(text) }
    if job.state == .running, let holdUp { try terminal.write("\(holdUp.told)\n") }
    // A process resumes the job within seconds, so do not advise then.
    if setsLimits, changes.count == 1, let advice = MigrationText.unattended(record, holdUp) { terminal.note(advice) }
  }
}
