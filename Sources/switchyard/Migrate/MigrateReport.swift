import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard migrate report`: the result of a job, in words for a manager and figures for an engineer.
enum MigrateReport {
  static let command = Command(
    "report", "Show the result of a job: accounts, coverage by app, unknown ids and the reasons.",
    discussion: """
      --rejects FILE has the format of the input if that is one file; otherwise it is JSON Lines. The command reads the \
      sources once more, so they must still be in place. Correct the rows and start another job with the file. With \
      --rejects the exit status is 3 if rows were rejected.
      """,
    whenStopped: "The file of rejected rows ends with a whole row.",
    examples: [
      Command.Example("switchyard migrate report 1 > report.md"),
      Command.Example("switchyard migrate report 1 --json"),
      Command.Example("switchyard migrate report 1 --rejects rejects.csv"),
    ],
    options: [
      .value("limit", "N", default: "100", "How many ids without a history are listed, 0 to 100,000."),
      JSONOutput.option,
    ] + MigrateRejects.options + MasterKeyOptions.options, arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    let number = try MigrateCommand.number(arguments)
    let limit = try arguments.integer("limit", in: 0...100_000) ?? 100
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      let record = try await MigrationRecord.find(number, at: WallClock.system.now(), connection)
      if let path = arguments.value("rejects") {
        try await MigrateRejects.write(record, to: path, options, arguments, terminal, connection)
      }
      let (counts, list, apps) = try await connection.read { session throws(DatabaseError) in
        let counts = try MigrationLeftovers.counts(of: number, in: session)
        let list = try MigrationLeftovers.list(of: number, limit: limit, in: session)
        return (counts, list, try AppTable.all(includingRemoved: true, in: session))
      }
      let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
      let causes = counts.map { Cause(app: names[$0.app] ?? "", state: $0.state, reason: $0.reason, count: $0.count) }
      if arguments.wantsJSON {
        var object = MigrationJSON.record(record)
        object["causes"] = .array(causes.map { .object($0.json) })
        object["withoutHistory"] = .array(
          list.map { leftover in
            [
              "app": .string(names[leftover.app] ?? ""), "environment": JSONValue(leftover.environment?.rawValue),
              "id": .string(leftover.id), "state": .string(leftover.state.rawValue), "reason": .string(leftover.reason),
            ]
          })
        try terminal.write(object)
      } else {
        try terminal.write(markdown(record, causes, list, names))
      }
      return arguments.value("rejects") == nil || record.accounts.allRejected == 0 ? .done : .doneWithRejects
    }
  }

  private struct Cause {
    let app: String
    let state: UnresolvedID.State
    let reason: String
    let count: Int

    var json: JSONObject {
      [
        "app": .string(app), "state": .string(state.rawValue), "reason": .string(reason),
        "ids": .integer(Int64(count)),
      ]
    }
  }

  private static func markdown(
    _ record: MigrationRecord, _ causes: [Cause], _ list: [UnresolvedID], _ names: [App.ID: String]
  ) -> String {
    let (job, accounts) = (record.job, record.accounts)
    var text = "# Migration \(job.id): \(job.state.name)\n\n"
    text += "Begun \(job.createdAt.iso8601) by \(job.createdBy)"
    text += job.finishedAt.map { ", ended \($0.iso8601).\n\n" } ?? ".\n\n"
    if let trouble = job.trouble {
      text += "**\(job.state == .paused ? "It is paused" : "It cannot go on"):** \(trouble)\n\n"
    }
    if let rest = record.rest { text += "**Left out:** \(rest).\n\n" }
    text += """
      Of \(accounts.rows) rows \(accounts.usable) were usable, \(accounts.duplicates) repeated others (\(accounts.links) of them for a further user), \(accounts.withoutPurchases) hold no purchase, and \
      \(accounts.allRejected) were rejected. They name \(accounts.ids) ids: Apple's history is known for \(accounts.settled) (\(percent(accounts.settled, accounts.ids))), Apple knows nothing of \(accounts.unknown), \
      \(accounts.failed) failed for good, and \(accounts.open) are not answered yet.


      """
    if !job.settings.accepted.isEmpty {
      text += "## Accepted when it began\n\n" + job.settings.accepted.map { "* \($0)\n" }.joined() + "\n"
    }
    text += "## Accounts\n\n| | |\n| --- | ---: |\n"
    for (name, count) in [
      ("rows", accounts.rows), ("usable", accounts.usable), ("duplicates", accounts.duplicates),
      ("without purchases", accounts.withoutPurchases), ("rejected", accounts.allRejected), ("ids", accounts.ids),
      ("settled", accounts.settled), ("unknown to Apple", accounts.unknown), ("failed", accounts.failed),
      ("open", accounts.open),
    ] { text += "| \(name) | \(count) |\n" }
    text += "\n" + (accounts.balances ? "They balance.\n\n" : "**They do not balance: report this.**\n\n")
    if accounts.allRejected > 0 {
      text += "## Rejected, by reason\n\n| reason | rows |\n| --- | ---: |\n"
      for (reason, count) in accounts.rejected.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
        text += "| \(reason) | \(count) |\n"
      }
      text += "\n`switchyard migrate report \(job.id) --rejects FILE` writes them.\n\n"
    }
    text += "## Coverage\n\n| app | environment | ids | settled | coverage |\n| --- | --- | ---: | ---: | ---: |\n"
    for place in record.places where place.accounts.ids > 0 {
      let accounts = place.accounts
      text += "| \(MigrationText.known(place.app)) | \(MigrationText.known(place.environment)) |"
      text += " \(accounts.ids) | \(accounts.settled) |"
      text += " \(percent(accounts.settled, accounts.ids)) |\n"
    }
    guard !causes.isEmpty else { return text }
    text += "\n## Without a history, by cause\n\n| app | state | cause | ids |\n| --- | --- | --- | ---: |\n"
    for cause in causes {
      let reason = cause.reason.isEmpty ? job.state == .cancelled ? "not asked" : "not asked yet" : cause.reason
      text += "| \(MigrationText.known(cause.app)) | \(cause.state.rawValue) | \(reason) | \(cause.count) |\n"
    }
    text += "\n" + list.map { "* `\($0.id)` \(names[$0.app] ?? "") \($0.state.rawValue) \($0.reason)\n" }.joined()
    return text + "\nrunbooks/unresolvable-seeds.md says what to do with them.\n"
  }

  private static func percent(_ part: Int, _ all: Int) -> String {
    all == 0 ? "–" : "\(Double(part * 1_000 / all) / 10) %"
  }
}
