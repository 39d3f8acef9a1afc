import Database
import Ledger
import Operations
import Runtime
import Time

/// `switchyard migrate throttle`: how fast a job may go, from now on.
enum MigrateThrottle {
  static let options: [Option] = [
    .value(
      "customers-per-second", "N",
      "Customers asked about in a second at most, by two calls mostly; 0: as many as Apple allows."),
    .value("rows", "N", "Rows read in a second at most; 0: no limit."),
    .value("hours", "FROM-TO", "Work from this hour of the day to that one alone, in UTC, as 22-6; `all`: all day."),
  ]

  static let command = Command(
    "throttle", "Change how fast a job goes; what is not named stays as it is.",
    examples: [
      Command.Example("switchyard migrate throttle 1 --customers-per-second 20"),
      Command.Example("switchyard migrate throttle 1 --rows 500 --hours 22-6"),
      Command.Example("switchyard migrate throttle 1 --customers-per-second 0 --hours all", "no limits"),
    ],
    options: options + [.value("reason", "TEXT", "Why, for the audit."), JSONOutput.option],
    arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    let number = try MigrateCommand.number(arguments)
    guard options.contains(where: { arguments.value($0.name) != nil }) else {
      throw UsageError(.missingOption, "Say --customers-per-second, --rows or --hours.", path: arguments.path)
    }
    var known: MigrationSettings?
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      known = try await connection.read { session throws(DatabaseError) in
        try MigrationJobTable.find(number, in: session)?.settings
      }
    }
    guard let known else { throw NoSuchMigration(id: number) }
    return try await MigrateCommand.apply(.throttle(try settings(arguments, from: known)), arguments, terminal)
  }

  /// What the options say, and `settings` where they say nothing.
  static func settings(
    _ arguments: ParsedArguments, from settings: MigrationSettings = MigrationSettings()
  ) throws(UsageError) -> MigrationSettings {
    var settings = settings
    if let calls = try arguments.integer("customers-per-second", in: 0...1_000_000) {
      settings.callsPerSecond = calls == 0 ? nil : calls
    }
    if let rows = try arguments.integer("rows", in: 0...10_000_000) { settings.rowsPerSecond = rows == 0 ? nil : rows }
    if let hours = arguments.value("hours") {
      settings.hours = MigrationHours(hours)
      guard hours == "all" || settings.hours != nil else {
        throw UsageError(
          .invalidValue, "--hours takes two hours of the day from 0 to 24, as 22-6, or `all`.", path: arguments.path)
      }
    }
    return settings
  }
}
