import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout kill`: stops Switchyard's responses immediately, for one app or all.
enum RolloutKill {
  static let command = Command(
    "kill", "Stop answering verifyReceipt, for one app or for all: back to shadow.",
    discussion: """
      Every app in ramp, live or complete goes back to shadow, each in its own transaction: Apple answers its callers within five \
      seconds, in every process. Nothing is deleted, and nothing refuses it. Where the database keeps it waiting \
      it reports this and tries for 25 seconds; exit status 1 names the apps that were not stopped. The same customers are picked by a later ramp. \
      An app in shadow stays there, and `rollout advance --auto` does not advance it. In stages below \
      shadow nothing is changed: Apple answers there. With APP there is a line for each environment, with --all one for each that \
      is stopped and the number of the others. The kill \
      is done before the command waits, for five seconds at most, until every running service follows; the last \
      line reports it. With --json there is an object for each app and environment, and the last object has `stillAnswered` (null \
      if it could not be read) and `services` (null with --dry-run, or if it could not be read).
      """,
    whenStopped: "Switchyard answers for the apps that `switchyard rollout status` shows in ramp, live or complete.",
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
      throw UsageError(.missingArgument, "Name one APP, or --all for every app.", path: arguments.path)
    }
    guard (arguments.value("reason") ?? "").utf8.count <= 500 else {
      throw UsageError(.invalidValue, "--reason is longer than 500 bytes.", path: arguments.path)
    }
    let stop = RollBackToShadow(of: app, in: try EnvironmentOption.environment(arguments))
    let isDry = arguments.flag("dry-run")
    let options = try DatabaseOptions(arguments)
    do {
      return try await options.withLedger(terminal) { connection in
        let report =
          isDry
          ? try await stop.plan(on: connection)
          : try await stop.apply(
            by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection
          ) { terminal.note("Not done yet for \(list($0)). Trying for 25 seconds.") }
        return try await tell(report, isDry: isDry, of: app, arguments, terminal)
      }
    } catch let error as DatabaseError where !isDry {
      // The report has each later failure.
      terminal.note("No stage was changed. \(advice)")
      throw error
    }
  }

  /// Throws no `DatabaseError`, because the stops are committed.
  private static func tell(
    _ report: RollBackToShadow.Report, isDry: Bool, of app: String?, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    for outcome in report.outcomes {
      if arguments.wantsJSON {
        try terminal.write(json(outcome, isDry: isDry))
      } else if outcome.effect == .stopped || app != nil {
        try terminal.write(line(outcome, isDry: isDry))
      }
    }
    if app == nil { noteSpared(report, terminal) }
    noteStillAnswered(report, isDry: isDry, terminal)
    let failed = report.all(.failed)
    // Without a change, a line that all services follow would suggest one.
    let isChanged = failed.isEmpty || !report.all(.stopped).isEmpty || !report.all(.kept).isEmpty
    let followed =
      isDry || !isChanged
      ? nil
      : await PropagationReport.awaited(
        on: report.connection, otherwise: "Calls there may still get Switchyard's answers")
    if arguments.wantsJSON {
      try terminal.write([
        "stillAnswered": report.stillAnswered.map { .array($0.map { .object(place($0)) }) } ?? .null,
        "services": followed?.json ?? .null,
      ])
    }
    followed?.note(terminal)
    let (answered, kept) = (failed.filter(\.standing.isAnswered), failed.filter { !$0.standing.isAnswered })
    if !answered.isEmpty { terminal.note("NOT stopped, as far as is known: \(list(answered)). \(advice)") }
    if !kept.isEmpty {
      terminal.note(
        "Apple answers, but `rollout advance --auto` may move the app on: \(list(kept)). Repeat the command.")
    }
    return failed.isEmpty ? .done : .failed
  }

  private static let advice = """
    Repeat the command. If that does not help, `switchyard rollout status` names the services that are silent: stop them. Services \
    that reach the database give Switchyard's answers until the kill is done. Services that do not reach it leave calls about apps in \
    ramp and live to Apple, but still answer for apps in complete: runbooks/rollback.md, *If not*.
    """

  private static func list(_ outcomes: [RollBackToShadow.Outcome]) -> String {
    outcomes.map { outcome in
      let isHeld = outcome.trouble?.code == .lockWaitTimeout
      return "\(outcome.standing.place) (\(outcome.from)): "
        + (isHeld ? "another transaction holds the app's row" : outcome.trouble.map { "\($0)" } ?? "")
    }.joined(separator: "; ")
  }

  private static func line(_ outcome: RollBackToShadow.Outcome, isDry: Bool) -> String {
    let standing = outcome.standing
    switch outcome.effect {
    case .stopped: return "\(isDry ? "would: " : "")\(standing.place): \(outcome.from) to shadow\n"
    case .kept: return "\(standing.place): in shadow already\n"
    case .untouched: return "\(standing.place): \(standing.stageName), Apple answers already.\n"
    case .failed: return "\(standing.place): \(outcome.from), failed\n"
    }
  }

  private static func noteStillAnswered(_ report: RollBackToShadow.Report, isDry: Bool, _ terminal: Terminal) {
    guard let left = report.stillAnswered?.map({ "\($0.place) (\($0.stageName))" }) else {
      return terminal.note("It could not be read whether others are answered. Look at `switchyard rollout status`.")
    }
    if !left.isEmpty {
      terminal.note("Still answered by Switchyard: \(left.joined(separator: ", ")).")
    } else if !report.all(.failed).contains(where: \.standing.isAnswered) {
      terminal.note("\(isDry ? "No other app is" : "No app is left") in ramp, live or complete.")
    }
  }

  /// Counts the apps with Apple's responses already; a line for each would hide the stopped apps.
  private static func noteSpared(_ report: RollBackToShadow.Report, _ terminal: Terminal) {
    let (kept, below) = (report.all(.kept).count, report.all(.untouched).count)
    guard kept + below > 0 else { return }
    terminal.note(
      "Apple answers already: \(kept) in shadow, \(below) in a stage below it (`switchyard rollout status` lists them)."
    )
  }

  private static func place(_ standing: AppRollout) -> JSONObject {
    [
      "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
      "stage": .string(standing.flag.stage.rawValue), "percent": .share(standing.flag.share),
    ]
  }

  /// `from` and `to` are the stages before and after; `changed` shows whether they differ, or would in a dry run.
  private static func json(_ outcome: RollBackToShadow.Outcome, isDry: Bool) -> JSONObject {
    let (standing, effect) = (outcome.standing, outcome.effect)
    let from = String(outcome.from.prefix { $0 != " " })
    let to = effect == .untouched || effect == .failed ? from : "shadow"
    return [
      "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
      "from": .string(from), "to": .string(to), "stage": .string(isDry ? from : to), "changed": .bool(from != to),
      "effect": .string(effect.rawValue), "dryRun": .bool(isDry),
      "next_steps": [.string("switchyard rollout history \(standing.app.bundleID)")],
    ]
  }
}
