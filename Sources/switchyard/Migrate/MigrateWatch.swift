import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

/// `switchyard migrate watch`: how far a job is, until it has ended.
enum MigrateWatch {
  static let command = Command(
    "watch", "Show how far a job is, until it does not run any more.",
    discussion: """
      One line that is drawn again on a terminal, else a line every 30 s, or JSON lines with --json. A total with ~ is an \
      estimate. The time that is left comes with what limits it.
      """,
    whenStopped: "The job goes on.",
    examples: [Command.Example("switchyard migrate watch 1"), Command.Example("switchyard migrate watch 1 --json")],
    options: [JSONOutput.option], arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    let number = try MigrateCommand.number(arguments)
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      var last: (at: ContinuousClock.Instant, accounts: MigrationAccounts)?
      var said: ContinuousClock.Instant?
      while true {
        let now = WallClock.system.now()
        let record = try await MigrationRecord.find(number, at: now, connection)
        let here = ContinuousClock.now
        let isEnd = record.job.state != .running || Task.isCancelled
        let isDue = said.map { here - $0 >= (terminal.isErrorTTY ? .seconds(1) : .seconds(30)) } ?? true
        if isDue || isEnd {
          let pace = Pace(record.accounts, since: last?.accounts, within: last.map { here - $0.at })
          let limits = try await MigrationLimit.all(
            record, idsPerSecond: pace.ids, isHeldUp: FileFacts(options.migrationFlag) != nil, at: now, connection)
          if arguments.wantsJSON {
            var line = MigrationJSON.record(record)
            line["parts"] = nil
            line["rowsPerSecond"] = .integer(pace.rows)
            line["idsPerSecond"] = .integer(pace.ids)
            line["secondsLeft"] = JSONValue(limits.first?.seconds)
            line["because"] = JSONValue(limits.first?.cause)
            try terminal.write(line)
          } else if terminal.isErrorTTY, !isEnd {
            terminal.noteInPlace(MigrateWatch.line(record, pace, limits))
          } else {
            if terminal.isErrorTTY { terminal.noteInPlace("") }
            terminal.note(MigrateWatch.line(record, pace, limits))
          }
          (last, said) = ((here, record.accounts), here)
        }
        if isEnd { return record.job.state == .failed ? .failed : .done }
        try? await Task.sleep(for: .milliseconds(500))
      }
    }
  }

  /// What was done in a second, as of late.
  private struct Pace {
    var rows: Int64 = 0
    var ids: Int64 = 0

    init(_ now: MigrationAccounts, since before: MigrationAccounts?, within duration: Duration?) {
      guard let before, let duration, duration > .milliseconds(100) else { return }
      let seconds = Double(duration / .milliseconds(1)) / 1_000
      func ended(_ accounts: MigrationAccounts) -> Int { accounts.ids - accounts.open }
      rows = Int64(Double(now.rows - before.rows) / seconds)
      ids = Int64(Double(ended(now) - ended(before)) / seconds)
    }
  }

  private static func line(_ record: MigrationRecord, _ pace: Pace, _ limits: [MigrationLimit]) -> String {
    let accounts = record.accounts
    var line = "migration \(record.job.id) is \(record.job.state.name): \(accounts.rows) of \(total(record)) rows"
    line += ", \(pace.rows)/s; \(accounts.ids - accounts.open) of \(accounts.ids) ids, \(pace.ids)/s"
    if let limit = limits.first {
      line += limit.seconds.map { ", at most \($0) s left (\(limit.cause))" } ?? ", waits for \(limit.cause)"
    }
    if accounts.allRejected > 0 { line += "; \(accounts.allRejected) rejected" }
    let troubles = record.parts.compactMap(\.trouble) + (record.job.trouble.map { [$0] } ?? [])
    if let trouble = troubles.first { line += "; \(trouble)" }
    return line
  }

  /// Exact when every part was read to its end, else by the bytes so far.
  private static func total(_ record: MigrationRecord) -> String {
    if record.parts.allSatisfy(\.isDone) { return "\(record.accounts.rows)" }
    let size = record.parts.reduce(0) { $0 + ($1.size ?? 0) }
    let read = record.parts.reduce(0) { $0 + ($1.isDone ? $1.size ?? $1.bytesRead : $1.bytesRead) }
    guard read > 0, size > 0, record.accounts.rows > 0 else { return "~?" }
    return "~\(max(record.accounts.rows, Int(Double(record.accounts.rows) * Double(size) / Double(read))))"
  }
}
