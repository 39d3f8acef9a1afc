import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard rollout cohort`: customers who get our answers first.
enum RolloutCohort {
  private static let mostMembers = 10_000

  static let command = Command(
    "cohort", "List customers who get our answers before all others in a ramp.",
    discussion: """
      In the stage ramp these customers get our answers whatever the percentage is. A line of FILE is `customer ID` \
      (an originalTransactionId), `user ID` (a user id that came with evidence) or `token UUID` (an appAccountToken). \
      Without FILE and --clear the number of customers is shown. Services follow at once.
      """,
    examples: [
      Command.Example("switchyard rollout cohort com.example.app staff.txt --environment Sandbox"),
      Command.Example("switchyard rollout cohort com.example.app --clear"),
    ],
    options: [
      EnvironmentOption.option, .flag("clear", "Remove those that are listed first."),
      .value("reason", "TEXT", "Why; kept in the audit."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID, Positional("FILE", count: .optional, "One customer a line; - is stdin.")]
  ) { arguments, terminal in
    let members = try arguments.positionals.count > 1 ? Self.members(in: arguments.positionals[1], arguments) : []
    let set = SetCohort(
      of: arguments.positionals[0], in: try EnvironmentOption.environment(arguments), adding: members,
      clearing: arguments.flag("clear"))
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let plan = try await set.plan(on: connection)
      if !members.isEmpty || arguments.flag("clear") {
        try await set.apply(
          plan, by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection)
      }
      let after = try await set.plan(on: connection).before
      if arguments.wantsJSON {
        try terminal.write([
          "app": .string(plan.bundleID), "before": .integer(Int64(plan.before)), "members": .integer(Int64(after)),
        ])
      } else {
        try terminal.write("\(plan.bundleID): \(after) customers\n")
      }
      return .done
    }
  }

  private static func members(in path: String, _ arguments: ParsedArguments) throws -> [CohortTable.Member] {
    let text = String(decoding: try Input.read(path, limit: 4 << 20), as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
    guard lines.count <= mostMembers else {
      throw UsageError(.invalidValue, "A cohort has at most \(mostMembers) customers.", path: arguments.path)
    }
    return try lines.enumerated().map { number, line in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let kind = CohortTable.Kind(name: String(parts[0])), parts[1].utf8.count <= 255 else {
        throw UsageError(
          .invalidValue, "Line \(number + 1) is not `customer ID`, `user ID` or `token UUID`.", path: arguments.path)
      }
      return CohortTable.Member(kind, String(parts[1]))
    }
  }
}
