import Database
import JSON
import Ledger
import Runtime
import Time

/// `switchyard app remove`: takes an app out of service.
enum AppRemove {
  static let command = Command(
    "remove", "Take an app out of service and end its tokens; what is known of its purchases stays.",
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
      let record = try await AppRecord.find(arguments.positionals[0], connection)
      let (app, tokens) = (record.app, record.validTokens.count)
      let isDry = arguments.flag("dry-run")
      terminal.note("\(app.bundleID): notifications will be quarantined, \(tokens) tokens end; purchases stay")
      if !isDry {
        try Confirmation.ask(for: app.bundleID, isGiven: arguments.flag("yes"), terminal)
        let now = WallClock.system.now()
        try await connection.transaction { session throws(DatabaseError) in
          try AppTable.remove(app, at: now, in: session)
          try AuditTable.note(
            "app.remove", of: app.bundleID, by: OperatingSystemUser.name, because: "\(tokens) tokens ended", at: now,
            in: session)
        }
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
