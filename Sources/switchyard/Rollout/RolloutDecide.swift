import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard rollout decide`: accepts ids that have no history of Apple's.
enum RolloutDecide {
  static let command = Command(
    "decide", "Accept ids that Apple's API does not know, or that a cancelled migration left out.",
    discussion: """
      `switchyard seeds show BUNDLE_ID --state unknown` lists them. --unknown accept accepts all that are unknown now: their \
      customers get from a receipt what the receipt says. An id that becomes unknown later holds up `rollout advance` again.

      --cancelled accept accepts the ids of bulk migrations that are cancelled now, of which Apple was not asked. \
      `switchyard migrate report JOB` lists them; begin the migration again to have them looked up.
      """,
    examples: [
      Command.Example(
        "switchyard rollout decide com.example.app --unknown accept --environment Production --reason \"test accounts\""
      )
    ],
    options: [
      .value("unknown", "accept", "Accept the ids that are unknown now."),
      .value("cancelled", "accept", "Accept the ids of cancelled migrations."), EnvironmentOption.option,
      .value("reason", "TEXT", "Why; kept in the audit."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let environments = try EnvironmentOption.named(arguments)
    let (unknown, cancelled) = (arguments.value("unknown"), arguments.value("cancelled"))
    guard (unknown == nil) != (cancelled == nil), unknown ?? cancelled == "accept" else {
      throw UsageError(
        .missingOption, "Specify either --unknown accept or --cancelled accept.", path: arguments.path)
    }
    let kind: AcceptedIDs = unknown == nil ? .cancelled : .unknown
    let reason = arguments.value("reason") ?? ""
    guard !reason.isEmpty, reason.utf8.count <= 500 else {
      throw UsageError(.missingOption, "Specify --reason, in at most 500 bytes.", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      for environment in environments {
        let accept = AcceptUnknownIDs(kind, of: arguments.positionals[0], in: environment)
        let (plan, place) = (try await accept.plan(on: connection), environment.rawValue)
        try await accept.apply(plan, by: .ofCommand(because: reason), at: WallClock.system.now(), on: connection)
        if arguments.wantsJSON {
          try terminal.write([
            "app": .string(plan.bundleID), "environment": .string(place), "accepted": .integer(Int64(plan.ids)),
            "next_steps": [.string("switchyard rollout advance \(plan.bundleID) --environment \(place)")],
          ])
        } else {
          try terminal.write("\(plan.bundleID) \(place): \(plan.ids) \(kind.name) accepted\n")
        }
      }
      return .done
    }
  }
}
