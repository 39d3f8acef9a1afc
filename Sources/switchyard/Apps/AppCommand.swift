import Database
import JSON
import Ledger
import Runtime
import Time

/// `switchyard app`: which apps are served, and what each is trusted with.
enum AppCommand {
  static let command = Command(
    "app", "Register apps, their credentials and the tokens of their back ends.",
    examples: [
      Command.Example("switchyard app add com.example.app --app-apple-id 1234567890"),
      Command.Example("switchyard app token com.example.app --label backend", "shown once"),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      AppAdd.command, list, AppShow.command, AppSet.command, remove, AppToken.command, AppSecret.command,
      AppLegacyURL.command,
    ])

  static let bundleID = Positional("BUNDLE_ID", "The app's bundle id, as com.example.app.")

  private static let list = Command(
    "list", "List the registered apps.",
    examples: [Command.Example("switchyard app list"), Command.Example("switchyard app list --json")],
    options: [JSONOutput.option]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let records = try await connection.read { session throws(DatabaseError) in
        var records: [AppRecord] = []
        for app in try AppTable.all(in: session) { records.append(try AppRecord(app, in: session)) }
        return records
      }
      if arguments.wantsJSON {
        for record in records { try terminal.write(record.json) }
        return .done
      }
      var table = TextTable([
        .init("APP"), .init("APPLE ID", .right), .init("STAGES"), .init("TOKENS", .right), .init("CREDENTIALS"),
      ])
      for record in records {
        table.add([
          record.app.bundleID, record.app.appAppleID.map { "\($0)" } ?? "-", record.stages,
          "\(record.validTokens.count)",
          record.credentials.map { "\($0.kind.rawValue) \($0.name)" }.joined(separator: ", "),
        ])
      }
      try terminal.write(table.render(for: terminal))
      if records.isEmpty { terminal.note("no app is registered: switchyard app add BUNDLE_ID") }
      return .done
    }
  }

  private static let remove = Command(
    "remove", "Take an app out of service and end its tokens; what is known of its purchases stays.",
    examples: [
      Command.Example("switchyard app remove com.example.app"),
      Command.Example("switchyard app remove com.example.app --dry-run"),
    ],
    options: [
      .flag("yes", "Do not ask for the app's name."), .flag("dry-run", "Say what would be done and do nothing."),
    ], arguments: [bundleID]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let record = try await AppRecord.find(arguments.positionals[0], connection)
      let (app, tokens) = (record.app, record.validTokens.count)
      terminal.note("\(app.bundleID): notifications will be quarantined, \(tokens) tokens end; purchases stay")
      if arguments.flag("dry-run") { return .done }
      try Confirmation.ask(for: app.bundleID, isGiven: arguments.flag("yes"), terminal)
      let now = WallClock.system.now()
      try await connection.transaction { session throws(DatabaseError) in
        try AppTable.remove(app, at: now, in: session)
        try AuditTable.note(
          "app.remove", of: app.bundleID, by: OperatingSystemUser.name, because: "\(tokens) tokens ended", at: now,
          in: session)
      }
      terminal.note("removed \(app.bundleID); `switchyard app add \(app.bundleID)` brings it back")
      return .done
    }
  }
}
