import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout set`: moves an app to a stage; the epoch and the audit are written in one transaction.
enum RolloutSet {
  static let command = Command(
    "set", "Move an app to a stage, in both environments or in one.",
    discussion: """
      Running services learn of it within five seconds; the command waits that long at most, and the last line says whether \
      they follow (--json: `services`, null with --dry-run or where it could not be found out). Messages decided \
      by the old stage and not committed yet are decided anew. The stage legacy needs an outbox in which nothing \
      has waited for a minute: new messages are passed through immediately and would overtake older ones; \
      --pass-by accepts that. Exit status 4: the stage is not available or something it needs is missing.

      In shadow Switchyard's answers are composed in parallel with Apple's and compared. In ramp the customers \
      of --percent get Switchyard's answers, always the same ones, and the others Apple's. In live and complete verifyReceipt is answered from the ledger; in \
      complete Apple's endpoint is never asked. ramp, live and complete need evidence: `rollout advance` checks it. --force \
      sets them without it, and the audit says that it was forced. complete also needs a shared secret and an API key. Back \
      goes without --force.
      """,
    examples: [
      Command.Example("switchyard rollout set com.example.app record --reason \"start of the migration\""),
      Command.Example(
        "switchyard rollout set com.example.app legacy --environment Sandbox --reason \"back for a day\" --dry-run"),
      Command.Example(
        "switchyard rollout set com.example.app live --environment Sandbox --force --reason \"first week\""),
      Command.Example(
        "switchyard rollout set com.example.app ramp --percent 5 --environment Sandbox --force --reason \"first 5 %\""),
    ],
    options: [
      EnvironmentOption.option, .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("pass-by", "To legacy although messages wait: their delivery continues, new ones overtake them."),
      .value(
        "percent", "N",
        "To ramp: the percentage of customers who get Switchyard's answers, 0 to 100, with up to two decimals."),
      .flag("force", "To ramp, live or complete without evidence; needs --reason."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ],
    arguments: [
      AppCommand.bundleID,
      Positional("STAGE", choices: Stage.allCases.map(\.rawValue), "Where to."),
    ]
  ) { arguments, terminal in
    guard let stage = Stage(rawValue: arguments.positionals[1]) else {
      throw UsageError(
        .invalidValue, "A stage is one of \(Stage.allCases.map(\.rawValue).joined(separator: ", ")).",
        path: arguments.path)
    }
    let reason = arguments.value("reason") ?? ""
    guard !reason.isEmpty, reason.utf8.count <= 500 else {
      throw UsageError(.missingOption, "Say why with --reason, in at most 500 bytes.", path: arguments.path)
    }
    let environment = try EnvironmentOption.environment(arguments)
    let share = try Self.share(arguments, for: stage)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let operation = SetStage(
        stage, at: share, of: arguments.positionals[0], in: environment, passingBy: arguments.flag("pass-by"),
        forced: arguments.flag("force"))
      let (isDry, now) = (arguments.flag("dry-run"), WallClock.system.now())
      let plan = try await operation.plan(at: now, on: connection)
      if !isDry { try await operation.apply(plan, by: .ofCommand(because: reason), at: now, on: connection) }
      if !arguments.wantsJSON { for change in plan { try tell(change, isDry: isDry, terminal) } }
      let followed = isDry ? nil : await PropagationReport.awaited(on: connection, otherwise: consequence)
      if arguments.wantsJSON { for change in plan { try terminal.write(json(change, isDry: isDry, followed)) } }
      followed?.note(terminal)
      return .done
    }
  }

  /// Parses `--percent`, which only ramp needs.
  private static func share(_ arguments: ParsedArguments, for stage: Stage) throws(UsageError) -> RampPercentage? {
    let share = try percent(arguments)
    guard stage != .ramp || share != nil else {
      throw UsageError(.missingOption, "The stage ramp needs --percent.", path: arguments.path)
    }
    guard stage == .ramp || share == nil else {
      throw UsageError(.invalidValue, "Only the stage ramp has --percent.", path: arguments.path)
    }
    return share
  }

  /// Parses `--percent`; `nil` without it.
  static func percent(_ arguments: ParsedArguments) throws(UsageError) -> RampPercentage? {
    guard let text = arguments.value("percent") else { return nil }
    guard let share = RampPercentage(text) else {
      throw UsageError(
        .invalidValue, "--percent is a number from 0 to 100 with at most two decimals.", path: arguments.path)
    }
    return share
  }

  static let consequence = "Calls there may still be answered as in the stage before"

  private static func json(_ change: SetStage.Change, isDry: Bool, _ followed: PropagationReport?) -> JSONObject {
    let (standing, move) = (change.standing, change.move)
    return [
      "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
      "from": .string(move.from.rawValue), "to": .string(move.to.rawValue), "dryRun": .bool(isDry),
      "forced": .bool(move.isForced), "percent": .share(move.share),
      "epoch": .integer(standing.flag.epoch + (move.changesAnything && !isDry ? 1 : 0)),
      "voids": JSONValue(move.voids), "waiting": .integer(Int64(standing.depth.waiting)),
      "services": followed?.json ?? .null,
    ]
  }

  private static func tell(_ change: SetStage.Change, isDry: Bool, _ terminal: Terminal) throws {
    let (standing, move) = (change.standing, change.move)
    let place = "\(standing.app.bundleID) \(standing.flag.environment.rawValue)"
    guard move.changesAnything else {
      return try terminal.write("\(place): is in \(StageTransition.name(move.to, move.share))\n")
    }
    try terminal.write(
      "\(isDry ? "would: " : "")\(place): \(move.description)\(move.isForced ? ", forced" : "")\n"
    )
    if let voids = move.voids { terminal.note("\(place): \(voids)") }
    if move.to.notifications == .passThrough, standing.depth.waiting > 0 {
      terminal.note(
        "\(place): \(standing.depth.waiting) messages wait in the outbox and are still delivered; new ones overtake them"
      )
    }
  }
}
