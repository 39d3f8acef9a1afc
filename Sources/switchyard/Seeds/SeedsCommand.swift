import AppStore
import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Seeding
import Time

/// `switchyard seeds`: the IDs for lookups at Apple, and their progress.
enum SeedsCommand {
  static let command = Command(
    "seeds", "See the ids that Apple is asked about, and the outcome.",
    examples: [
      Command.Example("switchyard seeds status com.example.app", "how far is it, and how long will the rest take?"),
      Command.Example("switchyard seeds status com.example.app --ids --state failed"),
      Command.Example("switchyard seeds run", "ask now, without a service"),
    ],
    options: DatabaseOptions.options, subcommands: [status, retry, SeedsRun.command])

  private static let status = Command(
    "status", "Count an app's ids by state, with the time for the rest; with --ids list them.",
    examples: [
      Command.Example("switchyard seeds status com.example.app"),
      Command.Example("switchyard seeds status com.example.app --ids --state unknown --limit 100 --json"),
    ],
    options: [
      .flag("ids", "List the ids, those that are due first, first."), states,
      .value("limit", "N", default: "20", "How many ids are listed at most, 1 to 1000."), JSONOutput.option,
    ], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let limit = try arguments.integer("limit", in: 1...1_000) ?? 20
    let states = states(arguments, else: HistoryJobTable.State.allCases)
    let isList = arguments.flag("ids")
    guard isList || ["state", "limit"].allSatisfy({ arguments.valuesGiven($0).isEmpty }) else {
      throw UsageError(.missingOption, "--state and --limit are for --ids.", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let app = try await AppRecord.find(arguments.positionals[0], connection).app
      if isList {
        let rows = try await connection.read { session throws(DatabaseError) in
          try HistoryJobTable.list(of: app, states, limit: limit, in: session)
        }
        try write(rows, arguments, terminal)
        return .done
      }
      let now = WallClock.system.now()
      let (counts, forecasts, waits) = try await connection.read { session throws(DatabaseError) in
        let counts = try HistoryJobTable.counts(of: app, in: session)
        var forecasts: [APIEnvironment: RateLimitForecast] = [:]
        for environment in APIEnvironment.allCases {
          let waiting = counts.filter { $0.environment == Environment(environment) && $0.state == .waiting }
          let key = RateLimitKey(app: app.bundleID, endpoint: .getTransactionHistory, environment: environment)
          let budget = RateLimiterState(
            bounds: .documented(key), learned: try DatabaseRateLimitStore.learned(key, at: now, in: session))
          forecasts[environment] = budget.forecast(calls: waiting.reduce(0) { $0 + $1.count }, now: now)
        }
        var waits: [APIEnvironment: LookUpWait] = [:]
        for environment in APIEnvironment.allCases {
          waits[environment] = try LookUpWait.read(
            AppScope(app: app.id, environment: Environment(environment)), at: now, in: session)
        }
        return (counts, forecasts, waits)
      }
      if arguments.wantsJSON {
        for count in counts { try terminal.write(json(count)) }
        for (environment, forecast) in forecasts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          try terminal.write([
            "environment": .string(environment.rawValue),
            "secondsLeftAtMost": .integer(forecast.length.milliseconds / 1_000),
            "callsPerSecond": JSONValue.string("\(forecast.perSecond)"), "because": .string(forecast.cause.rawValue),
            "waitsFor": waits[environment].map { .object($0.json) } ?? .null,
          ])
        }
        return .done
      }
      var table = TextTable([
        .init("ENVIRONMENT"), .init("KIND"), .init("STATE"), .init("IDS", .right), .init("WHY"),
      ])
      for count in counts {
        table.add([count.environment.rawValue, count.kind.name, count.state.name, "\(count.count)", count.reason])
      }
      try terminal.write(table.render(for: terminal))
      for (environment, forecast) in forecasts.sorted(by: { $0.key.rawValue < $1.key.rawValue })
      where forecast.length > .milliseconds(0) || waits[environment] != nil {
        if let wait = waits[environment] { terminal.note("\(environment.rawValue): waits for \(wait.text)") }
        if forecast.length == .milliseconds(0) { continue }
        terminal.note(
          "\(environment.rawValue): at most \(max(1, forecast.length.milliseconds / 1_000)) s, at \(forecast.perSecond) calls a "
            + "second (\(forecast.cause.rawValue)); ids of one customer take one call together")
      }
      return .done
    }
  }

  private static let states = Option.value(
    "state", "STATE", repeats: true, choices: HistoryJobTable.State.allCases.map(\.name), "Only these.")

  private static func states(_ arguments: ParsedArguments, else standard: [HistoryJobTable.State]) -> [HistoryJobTable
    .State]
  {
    let chosen = arguments.values("state").compactMap { name in HistoryJobTable.State.allCases.first { $0.name == name }
    }
    return chosen.isEmpty ? standard : chosen
  }

  private static func write(_ rows: [HistoryJobSummary], _ arguments: ParsedArguments, _ terminal: Terminal) throws {
    if arguments.wantsJSON {
      for row in rows { try terminal.write(json(row)) }
      return
    }
    var table = TextTable([
      .init("ID"), .init("ENVIRONMENT"), .init("KIND"), .init("STATE"), .init("ATTEMPTS", .right), .init("SINCE"),
      .init("NEXT"),
      .init("WHY"),
    ])
    for row in rows {
      table.add([
        row.subject, row.environment.rawValue, row.kind.name, row.isLeased ? "asking" : row.state.name,
        "\(row.attempts)",
        row.createdAt.iso8601, row.state == .waiting ? row.dueAt.iso8601 : "", row.reason ?? "",
      ])
    }
    try terminal.write(table.render(for: terminal))
  }

  private static let retry = Command(
    "retry", "Ask anew about ids that Apple did not know, or that failed; waiting ids are due immediately.",
    examples: [
      Command.Example("switchyard seeds retry com.example.app", "after the key or the bundle id was corrected"),
      Command.Example("switchyard seeds retry com.example.app --state failed --dry-run"),
    ],
    options: [states, .flag("dry-run", "Say how many and change nothing."), JSONOutput.option],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let states = states(arguments, else: [.waiting, .unknown, .failed])
    let isDry = arguments.flag("dry-run")
    guard !states.contains(.done) else {
      throw UsageError(.invalidValue, "Finished ids are not asked about again.", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let retry = RetryHistoryJobs(of: arguments.positionals[0], states)
      let plan = try await retry.plan(on: connection)
      let count =
        isDry ? plan.ids : try await retry.apply(plan, by: .ofCommand(), at: WallClock.system.now(), on: connection)
      if arguments.wantsJSON {
        try terminal.write(["ids": .integer(Int64(count)), "dryRun": .bool(isDry)])
      } else {
        try terminal.write("\(isDry ? "would be: " : "")\(count) ids to be asked about\n")
      }
      return .done
    }
  }

  private static func json(_ count: HistoryJobCount) -> JSONObject {
    [
      "environment": .string(count.environment.rawValue), "kind": .string(count.kind.name),
      "state": .string(count.state.name),
      "reason": .string(count.reason), "ids": .integer(Int64(count.count)),
    ]
  }

  private static func json(_ row: HistoryJobSummary) -> JSONObject {
    [
      "id": .string(row.subject), "environment": .string(row.environment.rawValue), "kind": .string(row.kind.name),
      "state": .string(row.state.name),
      "isLeased": .bool(row.isLeased), "attempts": .integer(Int64(row.attempts)),
      "createdAt": .integer(row.createdAt.sinceEpoch), "dueAt": .integer(row.dueAt.sinceEpoch),
      "settledAt": JSONValue(row.settledAt?.sinceEpoch), "reason": JSONValue(row.reason),
    ]
  }
}
