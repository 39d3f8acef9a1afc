import Database
import JSON
import Ledger
import Runtime
import Time

enum DatabaseCommand {
  static let command = Command(
    "db", "Make, look at, print and rebuild the database.",
    examples: [
      Command.Example("switchyard db status"),
      Command.Example("switchyard db migrate", "after each upgrade, before the service"),
    ],
    options: DatabaseOptions.options,
    subcommands: [
      migrate, status, DatabaseDump.command, DatabaseRebuild.command, DatabaseKey.command, DatabaseKeep.command,
    ])

  private static let migrate = Command(
    "migrate", "Bring the schema to the version of this build; safe to run twice.",
    whenStopped: "The finished steps stay. Run it again to continue.",
    examples: [
      Command.Example("switchyard db migrate"),
      Command.Example("switchyard db migrate --dry-run", "which steps are missing"),
    ],
    options: [.flag("dry-run", "Say which steps are missing and change nothing."), JSONOutput.option]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let isDry = arguments.flag("dry-run")
    let now = WallClock.system.now()
    let (before, steps) = try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration.forSchemaChanges)
      let outcome = try await connection.read { session throws(DatabaseError) in
        let status = try Migrator().status(in: session)
        guard !isDry else {
          return (status, status.isOlder ? Migration.all.filter { $0.version > status.installed } : [])
        }
        return (status, try Migrator().migrate(at: now, in: session))
      }
      await connection.close()
      return outcome
    }
    guard before.isCurrent || before.isOlder else { throw SchemaError(status: before) }
    if arguments.wantsJSON {
      let summary: JSONObject = [
        "installed": .integer(Int64(before.installed)), "known": .integer(Int64(before.known)), "dryRun": .bool(isDry),
        "steps": .array(
          steps.map { ["version": .integer(Int64($0.version)), "title": .string($0.title)] }),
      ]
      try terminal.write(summary.notingStop)
    } else if steps.isEmpty, CommandShutdown.signal == nil {
      try terminal.write("the schema is version \(before.installed), as this build wants it\n")
    } else {
      for step in steps {
        try terminal.write("\(isDry ? "missing" : "done"): version \(step.version): \(step.title)\n")
      }
    }
    return .done
  }

  private static let status = Command(
    "status", "Show the server, the schema and the size of each table.",
    examples: [Command.Example("switchyard db status"), Command.Example("switchyard db status --json")],
    options: [JSONOutput.option]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      let (schema, facts, tables) = try await connection.read { session throws(DatabaseError) in
        (
          try Migrator().status(in: session), try DatabaseStatistics(from: session),
          try DatabaseStatistics.tables(in: session)
        )
      }
      await connection.close()
      if arguments.wantsJSON {
        try terminal.write([
          "server": .string(facts.version), "address": .string(configuration.description),
          "schema": [
            "installed": .integer(Int64(schema.installed)), "known": .integer(Int64(schema.known)),
            "isCurrent": .bool(schema.isCurrent),
          ],
          "tables": .array(
            tables.map {
              ["name": .string($0.name), "rowsEstimate": .integer($0.rows), "bytes": .integer($0.bytes)]
            }),
        ])
        return .done
      }
      try terminal.write("server  \(facts.version)\nat      \(configuration)\nschema  \(schema.text)\n\n")
      var table = TextTable([.init("TABLE"), .init("ROWS", .right), .init("BYTES", .right)])
      for row in tables { table.add([row.name, "~\(row.rows)", "\(row.bytes)"]) }
      try terminal.write(table.render(for: terminal))
      return .done
    }
  }
}

extension Migrator.Status {
  var text: String {
    if isCurrent { return "version \(installed), current" }
    return "version \(installed), this build knows \(known): "
      + (isOlder ? "run `switchyard db migrate`" : "another build made it")
  }
}
