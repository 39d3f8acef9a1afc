import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout kill`: our answers are taken away at once, for one app or for all.
enum RolloutKill {
  static let command = Command(
    "kill", "Stop answering verifyReceipt, for one app or for all: back to shadow.",
    discussion: """
      Every app in ramp, live or complete goes back to shadow, each by itself: Apple answers its callers within five \
      seconds, in every process. Nothing is deleted, and nothing refuses it. Where the database keeps it waiting it says so \
      and goes on trying for 25 seconds; exit status 1 names what was not stopped. The same customers are picked by a later ramp. \
      An app in shadow stays there, and `rollout auto` does not move it on. In stages below \
      shadow nothing is changed: Apple answers there. Printed first are the apps that were stopped and those that Switchyard \
      still answers, then those that Apple answers already: with BUNDLE_ID a line for each, with --all their number. The kill \
      is done before the command waits, for five seconds at most, until every running service follows; the last line says \
      so. With --json there is an object for each app and environment, and the last object has `stillAnswered` and \
      `services` (null with --dry-run, or where it could not be found out).
      """,
    whenStopped: "What `switchyard rollout status` shows in ramp, live or complete is answered by Switchyard.",
    examples: [
      Command.Example("switchyard rollout kill --all", "every app"),
      Command.Example("switchyard rollout kill com.example.app --reason \"wrong answers\""),
    ],
    options: [
      .flag("all", "Every app."), EnvironmentOption.option,
      .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("dry-run", "Show what would be stopped and stop nothing."), JSONOutput.option,
    ],
    arguments: [Positional("APP", count: .optional, "One app.")]
  ) { arguments, terminal in
    let app = arguments.positionals.first
    guard (app == nil) == arguments.flag("all") else {
      throw UsageError(.missingArgument, "Give one BUNDLE_ID, or --all for every app.", path: arguments.path)
    }
    guard (arguments.value("reason") ?? "").utf8.count <= 500 else {
      throw UsageError(.invalidValue, "--reason is longer than 500 bytes.", path: arguments.path)
    }
    let environment = try EnvironmentOption.environment(arguments)
    let stop = StopAnswering(of: app, in: environment)
    let isDry = arguments.flag("dry-run")
    do {
      return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
        // It refuses an app that is not registered.
        let plan = try await stop.plan(on: connection)
        let report =
          isDry
          ? plan
          : try await stop.apply(
            by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection,
            waits: { terminal.note(waiting($0, $1)) })
        try await tell(report, isDry: isDry, of: app, arguments, terminal)
        return report.trouble == nil ? .done : .failed
      }
    } catch let error as DatabaseError where !isDry {
      // What is said after the commit takes the database's failures itself.
      let outcome =
        error.code == .commitOutcomeUnknown ? "It is not known whether anything was stopped" : "No stage was changed"
      terminal.note(notDone("\(outcome): \(reason(error)).", error))
      throw error
    }
  }

  /// Says what was stopped, and whether the running services follow.
  ///
  /// Throws no `DatabaseError`: what was stopped is committed.
  private static func tell(
    _ report: StopAnswering.Report, isDry: Bool, of app: String?, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws {
    let connection = report.connection
    if arguments.wantsJSON {
      for standing in report.scopes {
        try terminal.write(json(standing, isDry: isDry, isLeft: report.isLeft(standing)))
      }
    } else {
      for standing in report.stopped { try terminal.write(line(standing, isDry: isDry)) }
    }
    noteStillAnswered(report, isDry: isDry, terminal)
    await noteErrors(of: report.stopped, connection, terminal)
    if !arguments.wantsJSON {
      if app == nil {
        noteSpared(report, terminal)
      } else {
        for standing in report.spared where !report.isLeft(standing) {
          try terminal.write(line(standing, isDry: isDry))
        }
      }
    }
    // Where nothing was changed, that all services follow would read as if it had been.
    let isChanged = !isDry && (report.left.isEmpty || !report.stopped.isEmpty)
    let followed = !isChanged ? nil : await FollowedChange.awaited(on: connection, otherwise: consequence)
    if arguments.wantsJSON {
      try terminal.write([
        "stillAnswered": .array(report.stillAnswered.map { .object(place($0)) }),
        "services": followed?.json ?? .null,
      ])
    }
    followed?.note(terminal)
    if let trouble = report.trouble { noteLeft(report.left, trouble, terminal) }
  }

  private static let consequence = "Calls there may still get Switchyard's answers"

  static func name(_ standing: RolloutStanding) -> String {
    "\(standing.app.bundleID) \(standing.flag.environment.rawValue)"
  }

  private static func line(_ standing: RolloutStanding, isDry: Bool) -> String {
    switch StopAnswering.effect(on: standing) {
    case .stopped: return "\(isDry ? "would: " : "")\(name(standing)): \(standing.stageName) to shadow\n"
    case .kept: return "\(name(standing)): in shadow already\n"
    case .untouched: return "\(name(standing)): \(standing.stageName), Apple answers already.\n"
    }
  }

  private static func place(_ standing: RolloutStanding) -> JSONObject {
    [
      "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
      "stage": .string(standing.flag.stage.rawValue), "percent": .share(standing.flag.share),
    ]
  }

  /// `from` and `to` are the stages before and after; `changed` says whether they differ, or would in a dry run.
  ///
  /// `effect` is `failed` where it could not be stopped.
  private static func json(_ standing: RolloutStanding, isDry: Bool, isLeft: Bool) -> JSONObject {
    let effect = isLeft ? "failed" : StopAnswering.effect(on: standing).rawValue
    let from = standing.flag.stage.rawValue
    let to = effect == "none" || isLeft ? from : "shadow"
    return [
      "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
      "from": .string(from), "to": .string(to), "stage": .string(isDry ? from : to), "changed": .bool(from != to),
      "effect": .string(effect), "dryRun": .bool(isDry),
      "next_steps": [.string("switchyard rollout history \(standing.app.bundleID)")],
    ]
  }
}
