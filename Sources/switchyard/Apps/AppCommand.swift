import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

enum AppCommand {
  static let command = Command(
    "app", "Register apps, their credentials and the tokens of their back ends.",
    examples: [
      Command.Example("switchyard app add com.example.app --app-apple-id 1234567890"),
      Command.Example("switchyard app token com.example.app --label backend", "shown once"),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      AppAdd.command, list, AppSet.command, AppRemove.command, AppToken.command, AppSecret.command,
      AppLegacyURL.command,
    ])

  static let bundleID = Positional("APP", "The app's bundle id, as com.example.app.")

  private static let list = Command(
    "list", "List the registered apps, or show one APP with its last changes.",
    examples: [Command.Example("switchyard app list"), Command.Example("switchyard app list com.example.app --json")],
    options: [JSONOutput.option],
    arguments: [Positional("APP", count: .optional, bundleID.help)]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      if let name = arguments.positionals.first { return try await show(name, arguments, terminal, connection) }
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

  private static func show(
    _ name: String, _ arguments: ParsedArguments, _ terminal: Terminal, _ connection: Connection
  ) async throws -> ExitStatus {
    let record = try await AppRecord.find(name, connection)
    let bundleID = record.app.bundleID
    let audit = try await connection.read { session throws(DatabaseError) in
      try AuditTable.newest(of: bundleID, limit: 10, in: session)
    }
    if arguments.wantsJSON {
      var object = record.json
      object["audit"] = .array(audit.map { .object($0.json) })
      try terminal.write(object)
      return .done
    }
    try terminal.write("app       \(bundleID)\n")
    try terminal.write("Apple id  \(record.app.appAppleID.map { "\($0)" } ?? "not registered")\n")
    try terminal.write("stages    \(record.stages)\n")
    try terminal.write("hold      \(record.accessHold.summary)\n")
    try terminal.write("unproven  \(record.unprovenForwarding.summary)\n")
    try terminal.write("consumed  \(record.consumption.summary)\n")
    let readings = record.answerReadings.isEmpty ? "default" : record.answerReadings.joined(separator: ", ")
    try terminal.write("readings  \(readings)\n")
    try terminal.write("clients   \(record.answerClients.summary)\n")
    try show(record, terminal)
    var table = TextTable([.init("AT"), .init("WHO"), .init("WHAT"), .init("WHY")])
    for entry in audit { table.add([entry.at.iso8601, entry.actor, entry.action, entry.reason]) }
    try terminal.write("\n" + table.render(for: terminal))
    return .done
  }

  private static func show(_ record: AppRecord, _ terminal: Terminal) throws {
    if !record.credentials.isEmpty {
      var table = TextTable([.init("CREDENTIAL"), .init("NAME"), .init("ISSUER"), .init("SINCE")])
      for entry in record.credentials {
        table.add([entry.kind.rawValue, entry.name, entry.issuer, entry.createdAt.iso8601])
      }
      try terminal.write("\n" + table.render(for: terminal))
    }
    if !record.tokens.isEmpty {
      var table = TextTable([.init("TOKEN"), .init("LABEL"), .init("SINCE"), .init("REVOKED")])
      for token in record.tokens {
        table.add([token.name, token.label, token.createdAt.iso8601, token.revokedAt?.iso8601 ?? ""])
      }
      try terminal.write("\n" + table.render(for: terminal))
    }
  }
}
