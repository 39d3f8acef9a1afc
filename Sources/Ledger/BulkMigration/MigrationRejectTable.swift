package import Database

package enum MigrationRejectTable {
  private static let insert = BulkInsert(
    into: "INSERT INTO migration_rejects (job, part, file, position, row_key, line, reason) VALUES")

  static func add(
    _ rejects: [MigrationStep.Reject], of part: MigrationPart, in session: borrowing Session
  ) throws(DatabaseError) {
    let rows: [[SQLValue]] = rejects.map { reject in
      [
        .integer(Int64(part.job)), .integer(Int64(part.number)), reject.place.file.sqlValue,
        .integer(reject.place.position), reject.place.key.sqlValue, .integer(Int64(reject.line)),
        .text(reject.reason.cut(to: 50)),
      ]
    }
    _ = try session.insert(insert, rows: rows)
  }

  package struct Record: Sendable {
    package let number: Int64
    package let part: Int
    package let place: SourcePosition
    package let line: Int
    package let reason: String
  }

  /// Returns the rejected rows of a part after `number`, in the order of the part.
  package static func page(
    of job: Int, part: Int, after number: Int64, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [Record] {
    var records: [Record] = []
    for row in try session.query(
      """
      SELECT number, part, file, position, row_key, line, reason FROM migration_rejects
      WHERE job = \(job) AND part = \(part) AND number > \(number) ORDER BY number LIMIT \(limit)
      """)
    {
      records.append(
        Record(
          number: try row.int64("number"), part: try row.int("part"),
          place: SourcePosition(
            file: try row.optionalText("file"), position: try row.int64("position"),
            key: try row.optionalText("row_key")), line: try row.int("line"), reason: try row.text("reason")))
    }
    return records
  }
}
