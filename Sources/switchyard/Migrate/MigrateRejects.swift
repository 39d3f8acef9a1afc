import Backfill
import BulkMigration
import Database
import Ledger
import Operations
import Runtime
import Time

/// `switchyard migrate rejects`: the rows that were of no use, to be mended and fed again.
enum MigrateRejects {
  static let command = Command(
    "rejects", "Write the rejected rows as they stand in the source, with the reason of each.",
    discussion: """
      In the form of the input where that is one file, else as JSON Lines. The sources are read once more: they have to be \
      where they were. Mend the rows and begin another job with the file; what is mended counts there, and what is not is \
      rejected again. Exit status 3 when there are any.
      """,
    whenStopped: "What was written is whole rows.",
    examples: [
      Command.Example("switchyard migrate rejects 1 > rejects.csv"),
      Command.Example("switchyard migrate rejects 1 > rejects.jsonl", "of a folder or a table: JSON Lines"),
    ],
    options: [ExtractCommand.forSpreadsheet] + MasterKeyOptions.options, arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    let number = try MigrateCommand.number(arguments)
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      let record = try await MigrationRecord.find(number, at: WallClock.system.now(), connection)
      let rejected = RejectedRows(of: number, connection) {
        try MasterKeyOptions(arguments, database: options).load(hasSealed: true) { terminal.note($0) }
      }
      var formulas = FormulaCells(areQuoted: arguments.flag("for-spreadsheet"))
      let count = try await rejected.write(record.parts, &formulas) { try terminal.write($0) }
      if formulas.count > 0, !formulas.areQuoted { terminal.note(FormulaCells.warning(formulas.count)) }
      let all = record.accounts.allRejected
      if count < all { terminal.note("\(all - count) rejected rows were not found: the source is not what it was") }
      return all == 0 ? .done : .doneWithRejects
    }
  }
}
