import Database
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout set`: moves an app to a stage; the epoch and the audit are written in one transaction.
enum RolloutSet {
  static let action: StaticString = "rollout.set"

  static let command = Command(
    "set", "Move an app to a stage, in both environments or in one.",
    discussion: """
      Running services learn of it within ten seconds. What was decided by the old stage and is not committed yet is \
      refused and decided anew. To legacy it goes only when nothing has waited in the outbox for a minute, since new \
      messages are passed through at once and would overtake what waits; --pass-by accepts that. Exit status 4: the \
      stage is not available or something it needs is missing.
      """,
    examples: [
      Command.Example("switchyard rollout set com.example.app record --reason \"start of the migration\""),
      Command.Example(
        "switchyard rollout set com.example.app legacy --environment Sandbox --reason \"back for a day\" --dry-run"),
    ],
    options: [
      EnvironmentOption.option, .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("pass-by", "To legacy although messages wait: they go on being sent, new ones pass them by."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ],
    arguments: [
      AppCommand.bundleID,
      Positional("STAGE", choices: Stage.allCases.map(\.rawValue), "Where to; beyond record none is available yet."),
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
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let bundleID = try await AppRecord.find(arguments.positionals[0], connection).app.bundleID
      let standings = try await connection.read { session throws(DatabaseError) in try RolloutStanding.all(in: session)
      }
      .filter { $0.app.bundleID == bundleID && (environment == nil || $0.flag.environment == environment) }
      let changes = try standings.map { standing in
        Change(
          standing: standing,
          move: try move(standing, to: stage, passingBy: arguments.flag("pass-by")))
      }
      let isDry = arguments.flag("dry-run")
      if !isDry { try await write(changes.filter(\.move.changesAnything), reason, connection) }
      for change in changes { try tell(change, isDry: isDry, wantsJSON: arguments.wantsJSON, terminal) }
      return .done
    }
  }

  private struct Change: Sendable {
    let standing: RolloutStanding
    let move: Move

    var scope: Ledger.Scope {
      Ledger.Scope(app: standing.app.id, environment: standing.flag.environment)
    }
  }

  private static func move(_ standing: RolloutStanding, to stage: Stage, passingBy: Bool) throws -> Move {
    // What is younger is on its way; a busy app always has some.
    let isBackedUp = standing.depth.oldest.map { WallClock.system.now() - $0 > .minutes(1) } ?? false
    do throws(MoveRefusal) {
      return try Move(
        from: standing.flag.stage, to: stage, hasLegacyURL: standing.legacy?.isEnabled ?? false,
        isBackedUp: isBackedUp && !passingBy)
    } catch {
      throw StageRefused(app: standing.app.bundleID, environment: standing.flag.environment, refusal: error)
    }
  }

  private static func write(_ changes: [Change], _ reason: String, _ connection: Connection) async throws {
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    let isWritten = try await connection.transaction { session throws(DatabaseError) in
      for change in changes {
        let isFirst = try FlagTable.advance(
          change.scope, from: change.standing.flag, to: change.move.to, at: now, in: session)
        guard isFirst else { throw .abandoned("another change of the stage came first; look and try again") }
        let what = "\(change.scope.environment.rawValue): \(change.move.from.rawValue) to \(change.move.to.rawValue)"
        try AuditTable.note(
          action, of: change.standing.app.bundleID, by: actor, because: "\(what): \(reason)", at: now, in: session)
      }
      return true
    }
    assert(isWritten)
  }

  private static func tell(_ change: Change, isDry: Bool, wantsJSON: Bool, _ terminal: Terminal) throws {
    let (standing, move) = (change.standing, change.move)
    if wantsJSON {
      return try terminal.write([
        "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
        "from": .string(move.from.rawValue), "to": .string(move.to.rawValue), "dryRun": .bool(isDry),
        "epoch": .integer(standing.flag.epoch + (move.changesAnything && !isDry ? 1 : 0)),
        "voids": JSONValue(move.voids), "waiting": .integer(Int64(standing.depth.waiting)),
      ])
    }
    let place = "\(standing.app.bundleID) \(standing.flag.environment.rawValue)"
    guard move.changesAnything else { return try terminal.write("\(place): is in \(move.to.rawValue)\n") }
    try terminal.write("\(isDry ? "would: " : "")\(place): \(move.from.rawValue) to \(move.to.rawValue)\n")
    if let voids = move.voids { terminal.note("\(place): \(voids)") }
    if move.to.notifications == .passThrough, standing.depth.waiting > 0 {
      terminal.note(
        "\(place): \(standing.depth.waiting) messages wait in the outbox and go on being sent; new ones pass them by")
    }
  }
}

/// The stage was not set, and nothing was changed in any environment.
struct StageRefused: ExitStatusError, CustomStringConvertible {
  let app: String
  let environment: Environment
  let refusal: MoveRefusal

  var exitStatus: ExitStatus { .refused }
  var description: String { "\(app) \(environment.rawValue): \(refusal)" }
}
