import JSON
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout guard`: the conditions of an automatic return to shadow.
enum RolloutGuardCommand {
  static let command = Command(
    "guard", "Show or set when an app automatically goes back to shadow.",
    discussion: """
      In ramp and live every service looks at the last --window since the stage was set. The app goes back to \
      shadow in three cases. Impact: at least --min-customers customers were compared, and more than --max-impact percent of them \
      would have had other access than with Apple's answers. Errors: of at least --min-calls calls Switchyard could not \
      answer a share that exceeds Apple's by more than --max-errors percentage points; at least 5 of Switchyard's calls \
      failed, and Apple was asked at least 20 times. Latency: both sides were called at least --min-calls times, and \
      Switchyard's p99 is more than 500 ms and more than --max-latency times Apple's p99; the time that reading a receipt \
      takes is left out. With fewer customers or calls nothing happens. Calls are counted in steps of five minutes: the \
      step in which the window begins counts whole.

      Errors and latency cannot be judged where Apple is not asked: in complete, and in live of an app whose clients send \
      tokens only. --max-errors 0 and --max-latency 0 disable these two. `switchyard serve --alert-webhook URL` \
      notifies another system when an app goes back.
      """,
    examples: [
      Command.Example("switchyard rollout guard com.example.app --environment Sandbox"),
      Command.Example(
        "switchyard rollout guard com.example.app --environment Production --max-impact 0.5 --min-customers 500"),
      Command.Example(
        "switchyard rollout guard com.example.app --environment Production --max-errors 0.5 --max-latency 3"),
    ],
    options: [
      EnvironmentOption.option, .value("max-impact", "PERCENT", "The rate of customers above which it goes back."),
      .value(
        "max-errors", "PERCENT",
        "By how many percentage points Switchyard's rate of errors may exceed Apple's. 0 disables this check."),
      .value(
        "max-latency", "TIMES",
        "Maximum ratio of Switchyard's p99 to Apple's, 1 to 100. 0 disables this check."),
      .value("window", "TIME", "The span of time that is looked at, 1m to 7d."),
      .value("min-customers", "N", "Customers who must have been compared, 1 to 1000000."),
      .value("min-calls", "N", "Calls that errors and latency are judged by at least, 1 to 1000000."),
      .value("reason", "TEXT", "Why; kept in the audit."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let environments = try EnvironmentOption.environments(arguments)
    let impact = try percent("max-impact", arguments)
    let errors = try percent("max-errors", arguments)
    let latency = try times("max-latency", arguments)
    let window = try arguments.duration("window", in: .minutes(1)...(.days(7)))
    let customers = try arguments.integer("min-customers", in: 1...1_000_000)
    let calls = try arguments.integer("min-calls", in: 1...1_000_000)
    let change: @Sendable (inout GuardRule) -> Void = { rule in
      rule.mostImpact = impact.map { $0.hundredths * 100 } ?? rule.mostImpact
      rule.mostErrors = errors.map { $0.hundredths * 100 } ?? rule.mostErrors
      rule.mostLatency = latency ?? rule.mostLatency
      rule.window = window.map { Int($0.milliseconds / 1_000) } ?? rule.window
      rule.leastCustomers = customers ?? rule.leastCustomers
      rule.leastCalls = calls ?? rule.leastCalls
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      for environment in environments {
        let set = SetGuard(of: arguments.positionals[0], in: environment, change)
        let plan = try await set.plan(on: connection)
        try await set.apply(
          plan, by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection)
        if arguments.wantsJSON {
          var object: JSONObject = ["app": .string(plan.bundleID), "environment": .string(environment.rawValue)]
          for member in plan.after.json { object[member.key] = member.value }
          object["changed"] = .bool(plan.before != plan.after)
          try terminal.write(object)
        } else {
          try terminal.write("\(plan.bundleID) \(environment.rawValue): back to shadow \(plan.after.text)\n")
        }
      }
      return .done
    }
  }

  private static func percent(
    _ option: String, _ arguments: ParsedArguments
  ) throws(UsageError) -> RampPercentage? {
    guard let text = arguments.value(option) else { return nil }
    guard let share = RampPercentage(text) else {
      throw UsageError(
        .invalidValue, "--\(option) is a percentage with at most two decimals.", path: arguments.path)
    }
    return share
  }

  /// Returns hundredths; `nil` without the option.
  private static func times(_ option: String, _ arguments: ParsedArguments) throws(UsageError) -> Int? {
    guard let text = arguments.value(option) else { return nil }
    guard !text.hasSuffix("%"), let hundredths = RampPercentage(text)?.hundredths, hundredths == 0 || hundredths >= 100
    else {
      throw UsageError(
        .invalidValue, "--\(option) is a number from 1 to 100 with at most two decimals, or 0.",
        path: arguments.path)
    }
    return hundredths
  }
}

extension GuardRule {
  var json: JSONObject {
    [
      "impactPerMillion": .integer(Int64(mostImpact)), "windowSeconds": .integer(Int64(window)),
      "customers": .integer(Int64(leastCustomers)), "errorsPerMillion": .integer(Int64(mostErrors)),
      "latencyPercentOfApple": .integer(Int64(mostLatency)), "calls": .integer(Int64(leastCalls)),
    ]
  }

  /// `if more than 1 % of at least 100 customers would have other access (last 3600 seconds); …`.
  fileprivate var text: String {
    var text = "if more than \(Self.percent(mostImpact)) of at least \(leastCustomers) customers "
    text += "would have other access (last \(window) seconds)"
    if mostErrors > 0 {
      text += "; if Switchyard's rate of errors is more than Apple's plus \(Self.percent(mostErrors))"
      text += " (at least \(leastCalls) calls)"
    }
    if mostLatency > 0 {
      let times = Self.percent(mostLatency * 100).filter { $0 != " " && $0 != "%" }
      text += "; if Switchyard's p99 is more than 500 ms and \(times) times Apple's (at least \(leastCalls) calls)"
    }
    return text
  }
}
