import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard rollout cohort`: customers who get our answers first.
enum RolloutCohort {
  static let command = Command(
    "cohort", "Choose customers who get our answers before all others in a ramp.",
    discussion: """
      In the stage ramp the members of an app's cohort get our answers, whatever the percentage is. Running services follow \
      at once. An ID is `customer:ID` or the ID alone (an originalTransactionId), `user:ID` (a user id that came with \
      evidence), or `token:UUID` (an appAccountToken). A change without --environment is made in both environments.
      """,
    examples: [
      Command.Example("switchyard rollout cohort add com.example.app 2000000012345678 user:kim --environment Sandbox"),
      Command.Example("switchyard rollout cohort list com.example.app"),
    ],
    subcommands: [add, remove, clear, list])

  private static let add = Command(
    "add", "Add customers to the cohort of an app.",
    examples: [
      Command.Example("switchyard rollout cohort add com.example.app 2000000012345678 user:kim"),
      Command.Example("switchyard rollout cohort add com.example.app --file staff.txt --dry-run"),
    ],
    options: [file] + changing, arguments: [AppCommand.bundleID, ids]
  ) { arguments, terminal in
    try await change(.add(try members(arguments)), arguments, terminal)
  }

  private static let remove = Command(
    "remove", "Remove customers from the cohort of an app.",
    examples: [Command.Example("switchyard rollout cohort remove com.example.app user:kim")],
    options: [file] + changing, arguments: [AppCommand.bundleID, ids]
  ) { arguments, terminal in
    try await change(.remove(try members(arguments)), arguments, terminal)
  }

  private static let clear = Command(
    "clear", "Remove every customer from the cohort of an app.",
    examples: [Command.Example("switchyard rollout cohort clear com.example.app --environment Sandbox")],
    options: changing, arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    try await change(.clear, arguments, terminal)
  }

  private static let list = Command(
    "list", "List the cohort of an app.",
    examples: [Command.Example("switchyard rollout cohort list com.example.app --json")],
    options: [EnvironmentOption.option, JSONOutput.option], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let only = try EnvironmentOption.environment(arguments)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let app = try await AppRecord.find(arguments.positionals[0], connection).app
      var table = TextTable([.init("ENVIRONMENT"), .init("ID")])
      for environment in only.map({ [$0] }) ?? [.production, .sandbox] {
        let members = try await connection.read { session throws(DatabaseError) in
          try CohortTable.members(of: Scope(app: app.id, environment: environment), in: session)
        }
        for member in members {
          table.add([environment.rawValue, member.text])
          guard arguments.wantsJSON else { continue }
          try terminal.write([
            "app": .string(app.bundleID), "environment": .string(environment.rawValue), "id": .string(member.text),
          ])
        }
      }
      if !arguments.wantsJSON { try terminal.write(table.render(for: terminal)) }
      return .done
    }
  }

  // MARK: What the changes share

  private static let ids = Positional("ID", count: .any, "A customer, as `switchyard rollout cohort --help` says.")
  private static let file = Option.value("file", "FILE", "A file of IDs, one a line; - is stdin.")
  private static let changing: [Option] = [
    EnvironmentOption.option, .value("reason", "TEXT", "Why; kept in the audit."),
    .flag("dry-run", "Show what would be changed and change nothing."), JSONOutput.option,
  ]

  private static func change(
    _ change: SetCohort.Change, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    guard (arguments.value("reason") ?? "").utf8.count <= 500 else {
      throw UsageError(.invalidValue, "--reason is longer than 500 bytes.", path: arguments.path)
    }
    let set = SetCohort(change, of: arguments.positionals[0], in: try EnvironmentOption.environment(arguments))
    let isDry = arguments.flag("dry-run")
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let plan = try await set.plan(on: connection)
      if !isDry {
        try await set.apply(
          plan, by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection)
      }
      for cohort in plan.cohorts {
        try tell(cohort, of: plan.bundleID, isDry: isDry, wantsJSON: arguments.wantsJSON, terminal)
      }
      return .done
    }
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
      "next_steps": [.string("switchyard rollout cohort list \(app) --environment \(environment)")],
    ])
  }

  /// Those of the arguments and of --file; one that cannot be read refuses them all.
  private static func members(_ arguments: ParsedArguments) throws -> [CohortTable.Member] {
    var texts = Array(arguments.positionals.dropFirst())
    if let path = arguments.value("file") {
      let lines = String(decoding: try Input.read(path, limit: 4 << 20), as: UTF8.self).split(
        whereSeparator: \.isNewline)
      texts += lines.filter { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }
    guard !texts.isEmpty else {
      throw UsageError(.missingArgument, "Specify an ID or --file.", path: arguments.path)
    }
    return try texts.map { text in
      guard let member = CohortTable.Member(text) else {
        throw UsageError(
          .invalidValue,
          "\(UsageError.shown(text)) is not an ID: write customer:ID, the ID alone, user:ID or token:UUID.",
          path: arguments.path)
      }
      return member
    }
  }
}
