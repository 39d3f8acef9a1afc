package import Database
package import Time

/// `migration_parts`: the process that reads each part, and its position.
package enum MigrationPartTable {
  /// Leases a part that no process reads, or returns `nil`.
  ///
  /// Commit before you read the part.
  ///
  /// - Parameter unseen: parts whose files this process does not see.
  package static func lease(
    job: Int, but unseen: [Int] = [], until end: Timestamp, owner: [UInt8], at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> MigrationPart? {
    let row = try session.query(
      """
      SELECT number, source, sealed, size, file, position, row_key FROM migration_parts
      WHERE job = \(job) AND state = 0 AND retry_at <= \(now) AND (owner IS NULL OR lease_until <= \(now))
        AND number NOT IN (\(list: unseen))
      ORDER BY number LIMIT 1 FOR UPDATE
      """
    ).first
    guard let row else { return nil }
    let number = try row.int("number")
    _ = try session.execute(
      """
      UPDATE migration_parts SET owner = \(owner), lease_until = \(end) WHERE job = \(job) AND number = \(number)
      """)
    return MigrationPart(
      job: job, number: number, source: try row.text("source"), sealed: try row.optionalBytes("sealed"),
      size: try row.optionalInt64("size"), place: try place(of: row), owner: owner)
  }

  /// Extends a lease.
  ///
  /// Returns false if another process has it.
  package static func renew(
    _ part: MigrationPart, until end: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let renewed = try session.execute(
      """
      UPDATE migration_parts SET lease_until = GREATEST(lease_until + 1, \(end))
      WHERE job = \(part.job) AND number = \(part.number) AND owner = \(part.owner)
      """)
    return renewed.affectedRows == 1
  }

  /// Releases a part.
  ///
  /// The next process continues at its position.
  ///
  /// - Parameters:
  ///   - trouble: the reason why it cannot be read. `nil` if there is no problem.
  ///   - due: the time from which any process may try again.
  package static func release(
    _ part: MigrationPart, because trouble: String? = nil, until due: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE migration_parts SET owner = NULL, retry_at = \(due), trouble = \(trouble?.cut(to: 1_024))
      WHERE job = \(part.job) AND number = \(part.number) AND owner = \(part.owner)
      """)
  }

  package static func reports(
    of job: Int, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> [MigrationPartReport] {
    var reports: [MigrationPartReport] = []
    for row in try session.query(
      """
      SELECT number, source, sealed, size, state, owner IS NOT NULL AND lease_until > \(now) AS is_leased, file, position,
        row_key, rows_in, bytes_read, trouble
      FROM migration_parts WHERE job = \(job) ORDER BY number
      """)
    {
      reports.append(
        MigrationPartReport(
          number: try row.int("number"), source: try row.text("source"), sealed: try row.optionalBytes("sealed"),
          size: try row.optionalInt64("size"), isDone: try row.int("state") == 1, isLeased: try row.bool("is_leased"),
          place: try place(of: row),
          rows: try row.int("rows_in"), bytesRead: try row.int64("bytes_read"),
          trouble: try row.optionalText("trouble")))
    }
    return reports
  }

  /// Returns the end of the latest lease of a part or of the handing out of IDs, or `nil` without a lease.
  package static func latestLease(
    of job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Timestamp? {
    let rows = try session.query(
      """
      SELECT lease_until FROM migration_parts WHERE job = \(job) AND lease_until > 0
      UNION ALL SELECT lease_until FROM migration_hand_outs WHERE job = \(job)
      ORDER BY lease_until DESC LIMIT 1
      """)
    guard let row = rows.first else { return nil }
    return try row.milliseconds("lease_until")
  }

  /// Returns the end of the lease for handing out a job's IDs.
  ///
  /// A blocked process does not extend it.
  package static func handOutLease(
    of job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Timestamp? {
    let row = try session.query("SELECT lease_until FROM migration_hand_outs WHERE job = \(job)").first
    guard let row else { return nil }
    return try row.milliseconds("lease_until")
  }

  package static func hasOpen(_ job: Int, in session: borrowing Session) throws(DatabaseError) -> Bool {
    try !session.query("SELECT 1 FROM migration_parts WHERE job = \(job) AND state = 0 LIMIT 1").isEmpty
  }

  /// Returns the position if `part.owner` still owns the part, and locks the row until the transaction ends.
  static func held(_ part: MigrationPart, in session: borrowing Session) throws(DatabaseError) -> SourcePosition? {
    let row = try session.query(
      """
      SELECT file, position, row_key FROM migration_parts
      WHERE job = \(part.job) AND number = \(part.number) AND owner = \(part.owner) AND state = 0 FOR UPDATE
      """
    ).first
    guard let row else { return nil }
    return try place(of: row)
  }

  static func advance(
    _ part: MigrationPart, to place: SourcePosition, rows: Int, bytesRead: Int64, isEnd: Bool,
    in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE migration_parts SET file = \(place.file), position = \(place.position), row_key = \(place.key),
        rows_in = rows_in + \(rows), bytes_read = GREATEST(bytes_read, \(bytesRead)), trouble = NULL,
        state = \(isEnd ? 1 : 0), owner = IF(\(isEnd ? 1 : 0) = 1, NULL, owner)
      WHERE job = \(part.job) AND number = \(part.number)
      """)
  }

  private static func place(of row: Row) throws(DatabaseError) -> SourcePosition {
    SourcePosition(
      file: try row.optionalText("file"), position: try row.int64("position"), key: try row.optionalText("row_key"))
  }
}
