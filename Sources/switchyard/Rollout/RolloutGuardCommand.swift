import JSON
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout guard`: when an app goes back to shadow by itself.
enum RolloutGuardCommand {
  static let command = Command(
    "guard", "Show or set when an app goes back to shadow by itself.",
    discussion: """
      In ramp and live every service looks at the comparisons of the last --window seconds since the stage was set. If at \
      least --customers customers were compared and more than --impact percent of them would have had other access than \
      with Apple's answers, the app goes back to shadow. With fewer customers nothing happens.
      """,
    examples: [
      Command.Example("switchyard rollout guard com.example.app --environment Sandbox"),
      Command.Example("switchyard rollout guard com.example.app --environment Production --impact 0.5 --customers 500"),
    ],
    options: [
      EnvironmentOption.option, .value("impact", "PERCENT", "The rate of customers above which it goes back."),
      .value("window", "SECONDS", "The span of time that is looked at, 60 to 604800."),
      .value("customers", "N", "Customers who must have been compared, 1 to 1000000."),
      .value("reason", "TEXT", "Why; kept in the audit."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let environment = try EnvironmentOption.required(arguments)
    let share = try arguments.value("impact").map { text throws(UsageError) in
      guard let share = RampShare(text) else {
        throw UsageError(
          .invalidValue, "--impact is a percentage with at most two decimals.", path: arguments.path)
      }
      return share
    }
    let window = try arguments.integer("window", in: 60...604_800)
    let customers = try arguments.integer("customers", in: 1...1_000_000)
    let set = SetGuard(of: arguments.positionals[0], in: environment) { rule in
      rule.mostImpact = share.map { $0.hundredths * 100 } ?? rule.mostImpact
      rule.window = window ?? rule.window
      rule.leastCustomers = customers ?? rule.leastCustomers
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let plan = try await set.plan(on: connection)
      try await set.apply(
        plan, by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection)
      let rule = plan.after
      let percent = RampShare(hundredths: min(rule.mostImpact / 100, Bucket.count)).map { "\($0)" } ?? ""
      if arguments.wantsJSON {
        try terminal.write([
          "app": .string(plan.bundleID), "environment": .string(environment.rawValue),
          "impactPerMillion": .integer(Int64(rule.mostImpact)), "windowSeconds": .integer(Int64(rule.window)),
          "customers": .integer(Int64(rule.leastCustomers)), "changed": .bool(plan.before != plan.after),
        ])
      } else {
        try terminal.write(
          "\(plan.bundleID) \(environment.rawValue): back to shadow above \(percent) of at least "
            + "\(rule.leastCustomers) customers in \(rule.window) seconds\n")
      }
      return .done
    }
  }
}
