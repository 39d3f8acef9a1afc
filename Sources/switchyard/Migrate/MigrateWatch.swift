import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

/// `switchyard migrate status --watch`: the progress of a job until its end.
enum MigrateWatch {
  static func run(
    _ number: Int, _ options: DatabaseOptions, _ arguments: ParsedArguments, _ terminal: Terminal,
    _ connection: Connection
  ) async throws -> ExitStatus {
    var last: (at: ContinuousClock.Instant, accounts: MigrationCounts)?
    var said: ContinuousClock.Instant?
    var idle: (since: ContinuousClock.Instant, isSaid: Bool)?
    while true {
      let now = WallClock.system.now()
      let record = try await MigrationRecord.find(number, at: now, connection)
      let here = ContinuousClock.now
      let isEnd = record.job.state != .running || Task.isCancelled
      let flag = options.raisedMigrationFlag
      let holdUp = record.holdUp(byFile: flag, at: now)
      var advice = MigrationText.unattended(record, holdUp)
      idle = advice == nil ? nil : idle ?? (since: here, isSaid: false)
      // A process resumes the job within seconds, so do not advise then.
      if let since = idle?.since, here - since < idleTime { advice = nil }
      let isNews = advice != nil && idle?.isSaid == false
      let isDue = said.map { here - $0 >= (terminal.isErrorTTY ? .seconds(1) : .seconds(30)) } ?? true
      if isDue || isNews || isEnd {
        if advice != nil { idle?.isSaid = true }
        let pace = Pace(record.accounts, since: last?.accounts, within: last.map { here - $0.at })
        let limits = try await MigrationLimit.all(
          record, idsPerSecond: pace.ids, isHeldUp: flag != nil && holdUp?.isPartial != true, at: now, connection)
        if arguments.wantsJSON {
          var line = MigrationJSON.record(record)
          line["parts"] = nil
          line["rowsPerSecond"] = .integer(pace.rows)
          line["idsPerSecond"] = .integer(pace.ids)
          line["secondsLeft"] = JSONValue(limits.first?.seconds)
          line["because"] = JSONValue(limits.first?.cause)
          line["heldUp"] = MigrationJSON.heldUp(holdUp)
          try terminal.write(line)
        } else if terminal.isErrorTTY, !isEnd {
          terminal.noteInPlace(line(record, pace, limits, holdUp, advice))
        } else {
          if terminal.isErrorTTY { terminal.noteInPlace("") }
          terminal.note(line(record, pace, limits, holdUp, advice))
        }
        (last, said) = ((here, record.accounts), here)
      }
      if isEnd { return record.job.state == .failed ? .failed : .done }
      try? await Task.sleep(for: .milliseconds(500))
    }
  }

  private static let idleTime = Duration.seconds(3)

  private struct Pace {
    var rows: Int64 = 0
    var ids: Int64 = 0

    init(_ now: MigrationCounts, since before: MigrationCounts?, within duration: Duration?) {
      guard let before, let duration, duration > .milliseconds(100) else { return }
      let seconds = Double(duration / .milliseconds(1)) / 1_000
      func ended(_ accounts: MigrationCounts) -> Int { accounts.ids - accounts.open }
      rows = Int64(Double(now.rows - before.rows) / seconds)
      ids = Int64(Double(ended(now) - ended(before)) / seconds)
    }
  }

  private static func line(
    _ record: MigrationRecord, _ pace: Pace, _ limits: [MigrationLimit], _ holdUp: MigrationBlocker?,
    _ advice: String?
  ) -> String {
    let accounts = record.accounts
    var line = "migration \(record.job.id) is \(record.job.state.name): \(accounts.rows) of \(total(record)) rows"
    line += ", \(pace.rows)/s; \(accounts.ids - accounts.open) of \(accounts.ids) ids, \(pace.ids)/s"
    if let advice {
      line += "; \(advice)"
    } else if record.job.state == .running, let holdUp, !holdUp.isPartial {
      line += "; \(holdUp.told)"
    } else if let limit = limits.first {
      // Until every row is read, the number of IDs is an estimate, or unknown.
      let isRead = record.parts.allSatisfy(\.isDone)
      let bound = isRead ? "at most " : record.expectedRows == nil ? "at least " : "~"
      line += limit.seconds.map { ", \(bound)\($0) s left (\(limit.cause))" } ?? ", waits for \(limit.cause)"
    }
    if let holdUp, holdUp.isPartial { line += "; \(holdUp.told)" }
    if accounts.allRejected > 0 { line += "; \(accounts.allRejected) rejected" }
    let troubles = record.parts.compactMap(\.trouble) + (record.job.trouble.map { [$0] } ?? [])
    if let trouble = troubles.first { line += "; \(trouble)" }
    return line
  }

  /// Returns the exact total when every part was read, otherwise an estimate from the bytes read.
  private static func total(_ record: MigrationRecord) -> String {
    let isExact = record.parts.allSatisfy(\.isDone)
    return (isExact ? "" : "~") + (record.expectedRows.map { "\($0)" } ?? "?")
  }
}
