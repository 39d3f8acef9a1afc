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
      Every app in ramp, live or complete goes back to shadow in one transaction: Apple answers its callers within five \
      seconds, in every process. Nothing is deleted, and nothing refuses it. The same customers are picked by a later ramp. \
      A rehearsal that is under way does not bring its app back. Without BUNDLE_ID all apps are stopped.
      """,
    examples: [
      Command.Example("switchyard rollout kill", "every app"),
      Command.Example("switchyard rollout kill com.example.app --reason \"wrong answers\""),
    ],
    options: [
      .flag("all", "Every app, as without BUNDLE_ID."), EnvironmentOption.option,
      .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("dry-run", "Show what would be stopped and stop nothing."), JSONOutput.option,
    ],
    arguments: [Positional("BUNDLE_ID", count: .optional, "One app.")]
  ) { arguments, terminal in
    let app = arguments.positionals.first
    guard app == nil || !arguments.flag("all") else {
      throw UsageError(.invalidValue, "--all cannot be combined with a BUNDLE_ID.", path: arguments.path)
    }
    guard (arguments.value("reason") ?? "").utf8.count <= 500 else {
      throw UsageError(.invalidValue, "--reason is longer than 500 bytes.", path: arguments.path)
    }
    let stop = StopAnswering(of: app, in: try EnvironmentOption.environment(arguments))
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let plan = try await stop.plan(on: connection)
      let isDry = arguments.flag("dry-run")
      let stopped =
        isDry
        ? plan
        : try await stop.apply(
          by: .ofCommand(because: arguments.value("reason")), at: WallClock.system.now(), on: connection)
      for standing in stopped {
        if arguments.wantsJSON {
          try terminal.write([
            "app": .string(standing.app.bundleID), "environment": .string(standing.flag.environment.rawValue),
            "from": .string(standing.flag.stage.rawValue), "to": "shadow", "dryRun": .bool(isDry),
            "next_steps": [.string("switchyard rollout history \(standing.app.bundleID)")],
          ])
        } else {
          let name = Move.name(standing.flag.stage, standing.flag.share)
          try terminal.write(
            "\(isDry ? "would: " : "")\(standing.app.bundleID) \(standing.flag.environment.rawValue): \(name) to shadow\n"
          )
        }
      }
      let now = WallClock.system.now()
      for standing in stopped {
        let apple = try? await connection.read { session throws(DatabaseError) in
          try AnswerTimeTable.read(
            Scope(app: standing.app.id, environment: standing.flag.environment), since: now - .hours(1),
            in: session)[.apple]
        }
        guard let apple, apple.errors > apple.answers else { continue }
        terminal.note(
          """
          \(standing.app.bundleID) \(standing.flag.environment.rawValue): in the last hour Apple's verifyReceipt left \(apple.errors) of \
          \(apple.errors + apple.answers) calls unanswered; in shadow it answers all of them
          """)
      }
      if stopped.isEmpty { terminal.note("No app is answered by Switchyard. Nothing was changed.") }
      return .done
    }
  }
}
