import Backfill
import BulkMigration
import Database
import Ledger
import Operations
import Runtime

/// `switchyard migrate report --rejects FILE`: the rejected rows, for correction.
enum MigrateRejects {
  static let options: [Option] = [
    .value("rejects", "FILE", "Write the rejected rows to this file, as they came and with the reason of each."),
    ExtractCommand.forSpreadsheet,
  ]

  static func write(
    _ record: MigrationRecord, to path: String, _ options: DatabaseOptions, _ arguments: ParsedArguments,
    _ terminal: Terminal, _ connection: Connection
  ) async throws {
    for part in record.parts {
      guard case .files(let files) = try MigrationSource(stored: part.source), FileMetadata(files.path) != nil else {
        continue
      }
      if try RejectFiles.isWithin(path, input: files.path) {
        throw UsageError(.invalidValue, "--rejects would overwrite what is read.", path: arguments.path)
      }
    }
    let rejected = RejectedRows(of: record.job.id, connection) {
      try MasterKeyOptions(arguments, database: options).load(hasSealed: true) { terminal.note($0) }
    }
    let output = try OutputFile(path)
    var formulas = FormulaCells(areQuoted: arguments.flag("for-spreadsheet"))
    let count = try await rejected.write(record.parts, &formulas) { try output.write($0) }
    if formulas.count > 0, !formulas.areQuoted { terminal.note(FormulaCells.warning(formulas.count)) }
    let all = record.accounts.allRejected
    if count < all { terminal.note("\(all - count) rejected rows were not found: the source is not what it was") }
  }
}
