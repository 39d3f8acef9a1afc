import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout`: how far each app has moved.
enum RolloutCommand {
  static let command = Command(
    "rollout", "See and set how far each app has moved.",
    examples: [
      Command.Example("switchyard rollout status"), Command.Example("switchyard rollout show"),
      Command.Example("switchyard rollout set com.example.app record --reason \"start of the migration\""),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      RolloutStatusCommand.status, RolloutStatusCommand.watch, RolloutPlanCommand.command, show, RolloutSet.command,
      RolloutAdvance.command, RolloutAuto.command, RolloutDecide.command, RolloutGuardCommand.command,
      RolloutKill.command, RolloutCohort.command, history, RolloutReportCommand.command, RolloutURL.command,
    ])

  private static let show = Command(
    "show", "Show the stage of each app, and what waits for its old back end.",
    examples: [Command.Example("switchyard rollout show"), Command.Example("switchyard rollout show --json")],
    options: [JSONOutput.option],
    arguments: [Positional("APP", count: .optional, "One app only.")]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let only = arguments.positionals.first
      if let only { _ = try await AppRecord.find(only, connection) }
      let standings = try await connection.read { session throws(DatabaseError) in
        try RolloutStanding.all(in: session)
      }.filter { only == nil || $0.app.bundleID == only }
      if arguments.wantsJSON {
        for standing in standings { try terminal.write(standing.json) }
        return .done
      }
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT"), .init("STAGE"), .init("EPOCH", .right), .init("OLD BACK END"),
        .init("WAITING", .right), .init("DEAD", .right),
      ])
      for standing in standings {
        table.add([
          standing.app.bundleID, standing.flag.environment.rawValue,
          standing.stageName, "\(standing.flag.epoch)",
          standing.legacy.map { $0.isEnabled ? $0.host : "\($0.host) (off)" } ?? "-", "\(standing.depth.waiting)",
          "\(standing.depth.dead)",
        ])
      }
      try terminal.write(table.render(for: terminal))
      return .done
    }
  }

  private static let history = Command(
    "history", "Show who changed an app's rollout, when and why, newest first.",
    discussion: """
      Stages that were set, kills, what the guard took back, cohorts and decisions. With --json a change of the \
      stage has `environment`, `from` and `to`, and in ramp `percentBefore` and `percent`; they are null where the entry tells \
      of none.
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
        for entry in entries { try terminal.write(json(entry)) }
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

  /// An entry of the audit; its text begins with the environment, and goes on with the change of a stage if it is about one.
  private static func json(_ entry: AuditTable.Record) -> JSONObject {
    let name = String(entry.reason.prefix { $0 != ":" })
    let environment = Environment(rawValue: name)
    let rest = String(entry.reason.dropFirst(name.count + 2))
    let change = environment.flatMap { _ in StageChange(beginning: rest) }
    return [
      "at": .integer(entry.at.sinceEpoch), "actor": .string(entry.actor), "action": .string(entry.action),
      "environment": JSONValue(environment?.rawValue), "from": JSONValue(change?.from.rawValue),
      "percentBefore": .share(change?.shareBefore), "to": JSONValue(change?.to.rawValue),
      "percent": .share(change?.share), "reason": .string(entry.reason),
    ]
  }
}

extension RolloutStanding {
  /// The stage with its share.
  var stageName: String { Move.name(flag.stage, flag.share) }

  var json: JSONObject {
    [
      "app": .string(app.bundleID), "environment": .string(flag.environment.rawValue),
      "stage": .string(flag.stage.rawValue), "percent": .share(flag.share),
      "epoch": .integer(flag.epoch),
      "legacyHost": JSONValue(legacy?.host),
      "isForwarding": .bool(legacy?.isEnabled ?? false), "waiting": .integer(Int64(depth.waiting)),
      "dead": .integer(Int64(depth.dead)), "oldestWaiting": JSONValue(depth.oldest?.sinceEpoch),
    ]
  }
}

extension JSONValue {
  /// A ramp's percentage: a whole number, else a text with its decimals; null without one.
  static func share(_ share: RampShare?) -> JSONValue {
    guard let share else { return .null }
    guard share.hundredths.isMultiple(of: 100) else { return .string("\(share)".filter { $0 != " " && $0 != "%" }) }
    return .integer(Int64(share.hundredths / 100))
  }
}
