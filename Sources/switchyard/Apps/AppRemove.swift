import JSON
import Ledger
import Operations
import Runtime
import Time

enum AppRemove {
  static let command = Command(
    "remove", "Take an app out of service and end its tokens; the data about its purchases stays.",
    examples: [
      Command.Example("switchyard app remove com.example.app"),
      Command.Example("switchyard app remove com.example.app --dry-run"),
      Command.Example("switchyard app remove com.example.app --yes --json", "in a script"),
    ],
    options: [
      .flag("yes", "Do not ask for the app's name."), .flag("dry-run", "Say what would be done and do nothing."),
      JSONOutput.option,
    ], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let removal = RemoveApp(arguments.positionals[0])
      let plan = try await removal.plan(on: connection)
      let (app, tokens) = (plan.app, plan.tokens)
      let isDry = arguments.flag("dry-run")
      terminal.note("\(app.bundleID): notifications will be quarantined, \(tokens) tokens end; purchases stay")
      if !isDry {
        try Confirmation.ask(for: app.bundleID, isGiven: arguments.flag("yes"), terminal)
        try await removal.apply(plan, by: .ofCommand(), at: WallClock.system.now(), on: connection)
        terminal.note("removed \(app.bundleID); `switchyard app add \(app.bundleID)` brings it back")
      }
      if arguments.wantsJSON {
        try terminal.write([
          "app": .string(app.bundleID), "dryRun": .bool(isDry), "tokensEnded": .integer(Int64(tokens)),
        ])
      }
      return .done
    }
  }
}
