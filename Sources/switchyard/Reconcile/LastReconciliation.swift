import Database
import JSON
import Ledger
import Operations
import Purchases
import Reconciliation
import Runtime
import Service
import Time

/// `switchyard reconcile --last`: the completeness of each day's notifications.
enum LastReconciliation {
  static func show(
    _ arguments: ParsedArguments, _ options: DatabaseOptions, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let environment = try EnvironmentOption.environment(arguments)
    let since = try arguments.duration("since", in: .days(1)...(.days(3_650))) ?? .days(7)
    let days = since.milliseconds / Interval.days(1).milliseconds
    return try await options.withLedger(terminal) { connection in
      var app: App?
      if let bundleID = arguments.positionals.first { app = try await AppRecord.find(bundleID, connection).app }
      let id = app?.id
      let start = (WallClock.system.now() - .days(days - 1)).startOfDay
      let (rows, apps) = try await connection.read { session throws(DatabaseError) in
        (try CompletenessTable.read(from: start, app: id, in: session), try AppTable.all(in: session))
      }
      let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
      let shown = rows.filter {
        names[$0.scope.app] != nil && (environment == nil || $0.scope.environment == environment)
      }
      if arguments.wantsJSON {
        for row in shown { try terminal.write(json(row, names)) }
      } else {
        try terminal.write(table(shown, names).render(for: terminal))
      }
      if shown.isEmpty { terminal.note("nothing was measured in these days: `switchyard reconcile`") }
      return shown.allSatisfy { $0.completeness.missing == 0 } ? .done : .doneWithRejects
    }
  }

  private static func table(_ rows: [CompletenessTable.Row], _ names: [App.ID: String]) -> TextTable {
    var table = TextTable([
      .init("DAY"), .init("APP"), .init("ENVIRONMENT"), .init("MEASURE"), .init("EXPECTED", .right),
      .init("ARRIVED", .right), .init("RECOVERED", .right), .init("REFUSED", .right), .init("MISSING", .right),
      .init("MEASURED"),
    ])
    for row in rows {
      let counts = row.completeness
      table.add([
        String(row.day.iso8601.prefix(10)), names[row.scope.app] ?? "", row.scope.environment.rawValue,
        row.measure.name, "\(counts.expected)", "\(counts.arrived)", "\(counts.recovered)", "\(counts.refused)",
        "\(counts.missing)", row.measuredAt.iso8601,
      ])
    }
    return table
  }

  private static func json(_ row: CompletenessTable.Row, _ names: [App.ID: String]) -> JSONObject {
    let counts = row.completeness
    return [
      "day": .string(String(row.day.iso8601.prefix(10))), "app": .string(names[row.scope.app] ?? ""),
      "environment": .string(row.scope.environment.rawValue), "measure": .string(row.measure.name),
      "expected": .integer(Int64(counts.expected)), "arrived": .integer(Int64(counts.arrived)),
      "recovered": .integer(Int64(counts.recovered)), "refused": .integer(Int64(counts.refused)),
      "missing": .integer(Int64(counts.missing)), "measuredAt": .integer(row.measuredAt.sinceEpoch),
    ]
  }
}
