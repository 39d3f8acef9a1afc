import Backfill
import BulkMigration
import JSON

/// The columns of a source that a job reads, by the names of `--column`; null for columns that it does not read.
enum PlannedColumns {
  /// The largest number of listed headers; a damaged file may have any number.
  private static let mostListed = 1_000

  /// Returns `nil` if unknown, for example for a file without rows.
  ///
  /// - Parameter found: of a file, or of the first file of a folder's part.
  static func json(of source: MigrationSource, _ found: InputColumns?) -> JSONObject? {
    switch source {
    case .files:
      guard let found else { return nil }
      return [
        "format": .string(found.format.name), "receipt": JSONValue(found.receipt), "user": JSONValue(found.userID),
        "app": JSONValue(found.app), "id": JSONValue(found.id), "isGuessed": .bool(found.isGuessed),
        "notRead": .array(found.unread.prefix(mostListed).map { .string($0) }),
      ]
    case .table(let table):
      return [
        "key": .string(table.columns.key), "receipt": .string(table.columns.content),
        "user": JSONValue(table.columns.userID), "app": JSONValue(table.columns.app),
        "id": JSONValue(table.columns.id),
      ]
    }
  }
}
