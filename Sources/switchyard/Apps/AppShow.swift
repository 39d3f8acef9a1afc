import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard app show`: one app, with its history of changes.
enum AppShow {
  static let command = Command(
    "show", "Show what is registered about an app, and who changed it last.",
    examples: [Command.Example("switchyard app show com.example.app")],
    options: [JSONOutput.option], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let record = try await AppRecord.find(arguments.positionals[0], connection)
      let bundleID = record.app.bundleID
      let audit = try await connection.read { session throws(DatabaseError) in
        try AuditTable.newest(of: bundleID, limit: 10, in: session)
      }
      if arguments.wantsJSON {
        var object = record.json
        object["audit"] = .array(audit.map { .object(json($0)) })
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

  private static func json(_ entry: AuditTable.Record) -> JSONObject {
    [
      "at": .integer(entry.at.sinceEpoch), "actor": .string(entry.actor), "action": .string(entry.action),
      "reason": .string(entry.reason),
    ]
  }
}
