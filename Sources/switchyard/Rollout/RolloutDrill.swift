import JSON
import Operations
import Purchases
import Runtime
import Time

/// `switchyard rollout drill`: rehearses a rollback and measures it.
enum RolloutDrill {
  static let command = Command(
    "drill", "Rehearse a rollback, measure it, and leave the stage as it was.",
    discussion: """
      In ramp and live the app goes back to shadow and then where it was; its customers get Apple's answers for those \
      seconds. In other stages only the epoch changes. Measured is the time until every running service works by the \
      change; one that falls silent meanwhile has not followed, and one that was silent before is named and not \
      measured. The result is evidence for 30 days. In ramp what was compared at this percentage counts anew from then on. Exit \
      status: 1 no service is running, one did not follow, or the stage could not be put back: stderr says which.
      """,
    whenStopped: """
      The rehearsal does not count. If the first line of `switchyard rollout history BUNDLE_ID` is \
      rollout.drill.begin, the app is still in shadow.
      """,
    examples: [Command.Example("switchyard rollout drill com.example.app --environment Sandbox")],
    options: [EnvironmentOption.option, .value("reason", "TEXT", "Why; kept in the audit."), JSONOutput.option],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let app = arguments.positionals[0]
    // It puts the stage back first, which may take as long as somebody holds the app's row.
    CommandStop.current?.waits(.seconds(40))
    let environments = try EnvironmentOption.environment(arguments).map { [$0] } ?? [.production, .sandbox]
    return try await DatabaseOptions(arguments).withLedger(terminal) { first in
      var connection = first
      for environment in environments {
        let drill = RehearseRollback(app, in: environment)
        let standing = try await drill.plan(on: connection)
        let outcome = try await drill.apply(
          standing, by: .ofCommand(because: arguments.value("reason")), clock: .system, on: connection)
        connection = outcome.connection
        if arguments.wantsJSON {
          try terminal.write([
            "app": .string(app), "environment": .string(environment.rawValue), "stage": .string(outcome.stage),
            "processes": .integer(Int64(outcome.processes)), "backMilliseconds": .integer(outcome.back.milliseconds),
            "forthMilliseconds": .integer(outcome.forth.milliseconds),
            "next_steps": [.string("switchyard rollout advance \(app) --environment \(environment.rawValue)")],
          ])
        } else {
          try terminal.write(
            "\(app) \(environment.rawValue): \(outcome.processes.counted("service")), back in \(outcome.back.milliseconds) ms, "
              + "\(outcome.stage) again in \(outcome.forth.milliseconds) ms\n")
        }
      }
      // Those that were silent before it began were not measured.
      if let services = try? await FollowingServices.now(on: connection), !services.silent.isEmpty {
        terminal.note(services.status)
      }
      return .done
    }
  }
}
