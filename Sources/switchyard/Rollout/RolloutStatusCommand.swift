import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout status`: the results of the apps' responses in the last day.
enum RolloutStatusCommand {
  static let command = Command(
    "status",
    "Show every app's stage, how its answers compare with Apple's, and what the guard says.",
    discussion: """
      Comparisons of the last 24 hours. COMPARED and IMPACT count customers, DIFFER counts comparisons. INCOMPLETE \
      are customers without a known history when they were compared (cause `incomplete`). Apple answers them \
      instead, so they count neither as COMPARED nor under IMPACT, even if their access would have differed. A \
      line below the table counts those with different access, including customers who were compared again later. \
      GUARD is `sound`, `held` (too few customers were compared in the last hour, which is not an all-clear: compared of \
      needed, and their rate if it is above the threshold) or `breached` with its cause (impact, errors or latency), and - where no customer gets Switchyard's answers.

      P50/P99 are the milliseconds within which half of the answers, and 99 of 100, were given: the upper ends of steps, \
      in whole steps of five minutes. Apple's time is from the request to Apple's whole answer. Switchyard's is \
      from when the receipt was read to the answer, if Apple was not asked first; for an answer that is only compared, \
      the time to compose it and to wait for a core that nothing else needs. ERRORS are calls without an answer. \
      Apple's: no response, an HTTP error, or status 21005, 21009 or 21100 to 21199. Switchyard's: an answer that could \
      not be composed, or one that in ramp came too late; before complete Apple is asked then. \
      Answers that fail because Apple does not answer, calls whose app is unknown, and statuses that need no data of \
      the customer are not counted.

      The last line says how many services are running, and whether each works by the current stages (--json: `services`, the \
      same in each object, null if it could not be found out).

      --watch prints a line for each app and environment when anything of it has changed, and every 60 s, until you stop it. Each begins with the \
      time in UTC, with --json as `time`.
      """,
    whenStopped: "Nothing was changed.",
    examples: [
      Command.Example("switchyard rollout status"),
      Command.Example("switchyard rollout status com.example.app --environment Production --json"),
      Command.Example("switchyard rollout status com.example.app --watch"),
    ],
    options: [
      EnvironmentOption.option, .flag("watch", "Keep running, and show each change."), JSONOutput.option,
    ],
    arguments: [Positional("APP", count: .optional, "One app only.")]
  ) { arguments, terminal in
    let environment = try EnvironmentOption.environment(arguments)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      if arguments.flag("watch") { return try await watch(arguments, environment, terminal, connection) }
      let all = try await RolloutStatus.all(
        of: arguments.positionals.first, in: environment, at: WallClock.system.now(), on: connection)
      let services = try? await StagePropagation.now(on: connection)
      if arguments.wantsJSON {
        for status in all {
          var object = status.json
          object["services"] = services.map { .object($0.json) } ?? .null
          try terminal.write(object)
        }
        return .done
      }
      // No column is cut: the first, whole ones and numbers (aligned right) never are, and the last is wrapped.
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT", isWhole: true), .init("STAGE", isWhole: true), .init("SINCE", isWhole: true),
        .init("COMPARED", .right), .init("DIFFER", .right), .init("IMPACT", .right), .init("INCOMPLETE", .right),
        .init("P50/P99", .right), .init("ERRORS", .right), .init("APPLE P50/P99", .right),
        .init("APPLE ERRORS", .right), .init("GUARD"),
      ])
      for status in all {
        let figures = status.figures
        table.add([
          status.standing.app.bundleID, status.standing.flag.environment.rawValue, status.standing.stageName,
          status.standing.flag.changedAt.iso8601, "\(figures.customers)", "\(figures.differing)",
          "\(figures.affected)", "\(figures.incomplete)", status.speed(of: .ours), "\(status.errors(of: .ours))",
          status.speed(of: .apple), "\(status.errors(of: .apple))", status.guardLabel,
        ])
      }
      try terminal.write(table.render(for: terminal))
      for status in all {
        guard let breach = status.verdict?.breach else { continue }
        terminal.note("\(status.standing.place): the guard takes it back: \(breach.text)")
      }
      for standing in all.map(\.standing) {
        guard let legacy = standing.legacy, standing.depth.waiting + standing.depth.dead > 0 || !legacy.isEnabled else {
          continue
        }
        terminal.note(
          """
          \(standing.place): for your back end \(legacy.host)\(legacy.isEnabled ? "" : " (off)") \(standing.depth.waiting) \
          messages wait and \(standing.depth.dead) are dead
          """)
      }
      for status in all where status.figures.affected > 0 { terminal.note("Customers with an impact: \(status.next)") }
      for status in all where status.figures.incompleteAffected > 0 {
        terminal.note(
          """
          Customers whose access would have differed because their history was not known then (incomplete, no impact): \
          \(status.figures.incompleteAffected), \(status.nextOfIncomplete)
          """)
      }
      terminal.note(services?.status ?? "It is not known how many services are running: the database failed.")
      return .done
    }
  }

  private static func watch(
    _ arguments: ParsedArguments, _ environment: Environment?, _ terminal: Terminal, _ connection: Connection
  ) async throws -> ExitStatus {
    var said: [AppScope: (line: String, at: ContinuousClock.Instant)] = [:]
    while !Task.isCancelled {
      let date = WallClock.system.now()
      let all = try await RolloutStatus.all(
        of: arguments.positionals.first, in: environment, at: date, on: connection)
      let (now, time) = (ContinuousClock.now, Timestamp(date.sinceEpoch / 1_000 * 1_000).iso8601)
      for status in all {
        let scope = AppScope(app: status.standing.app.id, environment: status.standing.flag.environment)
        if let last = said[scope], last.line == status.line, now - last.at < .seconds(60) { continue }
        said[scope] = (status.line, now)
        try terminal.write(arguments.wantsJSON ? status.jsonLine(at: time) : "\(time) \(status.line)\n")
      }
      try? await Task.sleep(for: .seconds(1))
    }
    return .done
  }
}

extension RolloutStatus {
  fileprivate var nextOfIncomplete: String {
    let (app, environment) = (standing.app.bundleID, standing.flag.environment.rawValue)
    return "switchyard compare list --app \(app) --environment \(environment) --cause incomplete"
  }

  fileprivate var line: String {
    var line =
      "\(standing.place): \(standing.stageName), \(figures.customers) compared, \(figures.differing) differ, "
    line += "\(figures.affected) with impact, \(figures.incomplete) incomplete"
    for (side, name) in [(ResponseTimeStatistics.Side.ours, "ours"), (ResponseTimeStatistics.Side.apple, "Apple")]
    where answers[side] != nil {
      line += ", \(name) p50/p99 \(speed(of: side)) ms and \(errors(of: side)) errors"
    }
    if let verdict {
      line += ", guard " + (verdict.breach.map { "\(verdict.name) (\($0.text))" } ?? guardLabel)
    }
    return line
  }

  /// `sound`, `held (85 of 100 customers)` or `breached (errors)`; `-` if the guard is off.
  fileprivate var guardLabel: String {
    guard let verdict, let seen else { return "-" }
    switch verdict {
    case .sound: return verdict.name
    case .held: return rule.held(seen)
    case .breached(let breach): return "\(verdict.name) (\(breach.cause))"
    }
  }

  /// Returns the 50th and 99th percentile in milliseconds: `20/150`.
  fileprivate func speed(of side: ResponseTimeStatistics.Side) -> String {
    guard let half = answers[side]?.milliseconds(within: 0.5), let most = answers[side]?.milliseconds(within: 0.99)
    else {
      return "-"
    }
    return "\(half)/\(most)"
  }

  fileprivate func errors(of side: ResponseTimeStatistics.Side) -> Int { answers[side]?.errors ?? 0 }

  private func speeds(of side: ResponseTimeStatistics.Side) -> JSONValue {
    let figures = answers[side] ?? ResponseTimeStatistics()
    return .object([
      "answers": .integer(Int64(figures.answers)), "errors": .integer(Int64(figures.errors)),
      "p50Milliseconds": JSONValue(figures.milliseconds(within: 0.5).map { Int64($0) }),
      "p99Milliseconds": JSONValue(figures.milliseconds(within: 0.99).map { Int64($0) }),
    ])
  }

  private var guardSeen: JSONValue {
    guard let seen else { return .null }
    return .object(["customers": .integer(Int64(seen.customers)), "affected": .integer(Int64(seen.affected))])
  }

  fileprivate var json: JSONObject {
    [
      "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
      "stage": .string(standing.flag.stage.rawValue), "percent": .share(standing.flag.share),
      "epoch": .integer(standing.flag.epoch), "legacyHost": JSONValue(standing.legacy?.host),
      "isForwarding": .bool(standing.legacy?.isEnabled ?? false), "waiting": .integer(Int64(standing.depth.waiting)),
      "dead": .integer(Int64(standing.depth.dead)), "oldestWaiting": JSONValue(standing.depth.oldest?.sinceEpoch),
      "since": .integer(standing.flag.changedAt.sinceEpoch), "customers": .integer(Int64(figures.customers)),
      "comparisons": .integer(Int64(figures.comparisons)), "differing": .integer(Int64(figures.differing)),
      "affected": .integer(Int64(figures.affected)), "incomplete": .integer(Int64(figures.incomplete)),
      "incompleteAffected": .integer(Int64(figures.incompleteAffected)),
      "causes": figures.causesByName,
      "ours": speeds(of: .ours), "apple": speeds(of: .apple),
      "guard": JSONValue(verdict?.name), "guardBreach": verdict?.breach?.json ?? .null, "guardRule": .object(rule.json),
      "guardSeen": guardSeen,
      "next_steps": [.string(next)],
    ]
  }

  fileprivate func jsonLine(at time: String) -> String {
    var line: JSONObject = ["time": .string(time)]
    for member in json { line[member.key] = member.value }
    return String(decoding: line.encoded(), as: UTF8.self) + "\n"
  }
}

extension ComparisonStatistics {
  var causesByName: JSONValue {
    .object(
      JSONObject(
        uniqueMembers: causes.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: .integer(Int64($0.value))) }))
  }
}

extension GuardBreach {
  var json: JSONValue { .object(["cause": .string(cause), "text": .string(text)]) }
}
