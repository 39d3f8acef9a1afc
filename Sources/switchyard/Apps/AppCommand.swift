import Database
import Ledger
import Operations
import Runtime

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
      AppAdd.command, list, AppShow.command, AppSet.command, AppRemove.command, AppToken.command, AppSecret.command,
      AppLegacyURL.command,
    ])

  static let bundleID = Positional("APP", "The app's bundle id, as com.example.app.")

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
}
