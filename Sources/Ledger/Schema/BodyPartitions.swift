package import Database
package import Time

/// The partitions of `bodies`, one for each month, created in advance, so that old months can be dropped quickly.
package enum BodyPartitions {
  private static let monthsAhead = 3

  /// Creates the missing partitions up to three months in advance, and returns their number.
  @discardableResult
  package static func prepare(for now: Timestamp, in session: borrowing Session) throws(DatabaseError) -> Int {
    let newest = try session.query(
      """
      SELECT MAX(CAST(partition_description AS UNSIGNED)) AS upper_bound FROM information_schema.partitions
      WHERE table_schema = DATABASE() AND table_name = 'bodies' AND partition_description <> 'MAXVALUE'
      """
    ).first?.optionalInt64("upper_bound")
    var month = Month(now)
    var made = 0
    for _ in 0...monthsAhead {
      // The partition of a month ends below the next one.
      if newest ?? 0 < month.next.number {
        try session.run(
          """
          ALTER TABLE bodies REORGANIZE PARTITION rest INTO (
            PARTITION \(identifier: "m\(month.number)") VALUES LESS THAN (\(digits: month.next.number)),
            PARTITION rest VALUES LESS THAN MAXVALUE)
          """)
        made += 1
      }
      month = month.next
    }
    return made
  }
}
