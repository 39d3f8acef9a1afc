import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout`: the migration stage of each app.
enum RolloutCommand {
  static let command = Command(
    "rollout", "See and set how far each app has moved.",
    examples: [
      Command.Example("switchyard rollout status"),
      Command.Example("switchyard rollout set com.example.app record --reason \"start of the migration\""),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      RolloutStatusCommand.command, RolloutPlanCommand.command, RolloutSet.command,
      RolloutAdvance.command, RolloutGuardCommand.command,
      RolloutKill.command, RolloutCohort.command, history, RolloutReportCommand.command, RolloutURL.command,
    ])

  private static let history = Command(
    "history", "Show who changed an app's rollout, when and why, newest first.",
    discussion: """
      Stages that were set, kills, what the guard took back, cohorts and decisions.
      """,
    examples: [Command.Example("switchyard rollout history com.example.app --environment Production")],
    options: [
      EnvironmentOption.option, .value("limit", "N", default: "20", "How many at most, 1 to 1000."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let limit = try arguments.integer("limit", in: 1...1_000) ?? 20
    let environment = try EnvironmentOption.environment(arguments)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let bundleID = try await AppRecord.find(arguments.positionals[0], connection).app.bundleID
      let entries = try await connection.read { session throws(DatabaseError) in
        try AuditTable.newest(
          of: bundleID, actions: "rollout.", beginning: environment.map { "\($0.rawValue):" }, limit: limit, in: session
        )
      }
      if arguments.wantsJSON {
        for entry in entries { try terminal.write(entry.json) }
        return .done
      }
      var table = TextTable([.init("AT"), .init("WHO"), .init("ACTION", isWhole: true), .init("WHAT AND WHY")])
      for entry in entries { table.add([entry.at.iso8601, entry.actor, entry.action, entry.reason]) }
      try terminal.write(table.render(for: terminal))
      if entries.isEmpty {
        let place = environment.map { " \($0.rawValue)" } ?? ""
        terminal.note("\(bundleID)\(place) is where it began: in record")
      }
      return .done
    }
  }

}

extension AuditTable.Record {
  /// The text of an entry about a stage begins with the environment.
  var json: JSONObject {
    let environment = Environment(rawValue: String(reason.prefix { $0 != ":" }))
    return [
      "at": .integer(at.sinceEpoch), "actor": .string(actor), "action": .string(action),
      "environment": JSONValue(environment?.rawValue), "reason": .string(reason),
    ]
  }
}

extension AppRollout {
  /// The app and its environment: `com.example.app Production`.
  var place: String { "\(app.bundleID) \(flag.environment.rawValue)" }

  var stageName: String { StageTransition.name(flag.stage, flag.share) }

}

extension JSONValue {
  /// Returns a ramp's percentage: a whole number, otherwise a text with its decimals; null without one.
  static func share(_ share: RampPercentage?) -> JSONValue {
    guard let share else { return .null }
    guard share.hundredths.isMultiple(of: 100) else { return .string("\(share)".filter { $0 != " " && $0 != "%" }) }
    return .integer(Int64(share.hundredths / 100))
  }
}
