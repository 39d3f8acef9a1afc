import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard rollout cohort`: customers that get Switchyard's responses first.
enum RolloutCohort {
  static let command = Command(
    "cohort", "Choose customers who get Switchyard's answers before all others in a ramp.",
    discussion: """
      In the stage ramp the customers of an app's cohort get Switchyard's answers at every percentage above 0: \
      they are in bucket 0. An ID is `customer:ID` or only the ID (an originalTransactionId), `user:ID` (a user id that came with evidence), or \
      `token:UUID` (an appAccountToken). The purchases that it names now count: name a user again who bought later. Without \
      --add, --file, --remove and --clear the cohort is listed. Without --environment both environments are meant.
      """,
    examples: [
      Command.Example("switchyard rollout cohort com.example.app --add 2000000012345678 --add user:kim"),
      Command.Example("switchyard rollout cohort com.example.app --file staff.txt --dry-run"),
      Command.Example("switchyard rollout cohort com.example.app", "who is in it"),
    ],
    options: [
      .value("add", "ID", repeats: true, "Add this customer."),
      .value("file", "FILE", "Add the IDs of this file, one a line; - is stdin."),
      .value("remove", "ID", repeats: true, "Remove this customer."),
      .flag("clear", "Remove every customer."), EnvironmentOption.option,
      .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("dry-run", "Show what would be changed and change nothing."), JSONOutput.option,
    ], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    guard (arguments.value("reason") ?? "").utf8.count <= 500 else {
      throw UsageError(.invalidValue, "--reason is longer than 500 bytes.", path: arguments.path)
    }
    let (app, change) = (arguments.positionals[0], try change(arguments))
    let environment = try EnvironmentOption.environment(arguments)
    let isDry = arguments.flag("dry-run")
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let set = SetCohort(change ?? .add([]), of: app, in: environment)
      let plan = try await set.plan(on: connection)
      guard change != nil else { return try list(plan, arguments, terminal) }
      if !isDry {
        try await set.apply(
          plan, by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection)
      }
      for cohort in plan.cohorts {
        try tell(cohort, of: plan.bundleID, isDry: isDry, wantsJSON: arguments.wantsJSON, terminal)
        for member in cohort.unknown {
          terminal.note("\(cohort.scope.environment.rawValue): no purchase of \(member.text.plain) is known")
        }
      }
      return .done
    }
  }

  /// Returns `nil` without a change.
  private static func change(_ arguments: ParsedArguments) throws -> SetCohort.Change? {
    var added = arguments.values("add")
    if let path = arguments.value("file") {
      let lines = String(decoding: try Input.read(path, limit: 4 << 20), as: UTF8.self).split(
        whereSeparator: \.isNewline)
      added += lines.filter { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }
    let removed = arguments.values("remove")
    guard [!added.isEmpty, !removed.isEmpty, arguments.flag("clear")].count(where: \.self) < 2 else {
      throw UsageError(.unexpectedValue, "Add, remove or clear: one at a time.", path: arguments.path)
    }
    if !added.isEmpty { return .add(try added.map { try member($0, arguments) }) }
    if !removed.isEmpty { return .remove(try removed.map { try member($0, arguments) }) }
    return arguments.flag("clear") ? .clear : nil
  }

  private static func member(_ text: String, _ arguments: ParsedArguments) throws(UsageError) -> CohortMember {
    guard let member = CohortMember(text) else {
      throw UsageError(
        .invalidValue,
        "\(UsageError.shown(text)) is not an ID: write customer:ID, only the ID, user:ID or token:UUID.",
        path: arguments.path)
    }
    return member
  }

  private static func list(
    _ plan: SetCohort.Plan, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    var table = TextTable([.init("ENVIRONMENT"), .init("ID")])
    for cohort in plan.cohorts {
      let environment = cohort.scope.environment.rawValue
      for id in cohort.before.sorted() {
        table.add([environment, "customer:\(id)"])
        guard arguments.wantsJSON else { continue }
        try terminal.write([
          "app": .string(plan.bundleID), "environment": .string(environment), "id": .string("customer:\(id)"),
        ])
      }
    }
    if !arguments.wantsJSON { try terminal.write(table.render(for: terminal)) }
    return .done
  }

  private static func tell(
    _ cohort: SetCohort.Cohort, of app: String, isDry: Bool, wantsJSON: Bool, _ terminal: Terminal
  ) throws {
    let environment = cohort.scope.environment.rawValue
    guard wantsJSON else {
      return try terminal.write(
        "\(isDry ? "would: " : "")\(app) \(environment): \(cohort.added.count) added, \(cohort.removed.count) removed, "
          + "\(cohort.after.count) in the cohort\n")
    }
    try terminal.write([
      "app": .string(app), "environment": .string(environment), "dryRun": .bool(isDry),
      "added": .integer(Int64(cohort.added.count)), "removed": .integer(Int64(cohort.removed.count)),
      "members": .integer(Int64(cohort.after.count)),
      "next_steps": [.string("switchyard rollout cohort \(app) --environment \(environment)")],
    ])
  }
}
