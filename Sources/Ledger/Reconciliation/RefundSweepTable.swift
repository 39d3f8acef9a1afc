package import Database
package import Time

/// `refund_sweeps`: the last refund request to Apple for each customer.
package enum RefundSweepTable {
  /// The lease of a customer, longer than any request takes.
  private static let lease = Interval.minutes(15)

  /// Claims a customer for this process.
  ///
  /// Returns false if the last request is younger than `period`, or another process claimed it.
  ///
  /// - Parameter customer: the label of the customer, or an originalTransactionId without links.
  package static func claim(
    _ customer: String, in scope: AppScope, every period: Interval, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.execute(
      """
      INSERT INTO refund_sweeps (app, environment, customer, asked_at)
      VALUES (\(scope.app.number), \(scope.environment.code), \(customer), \(now - period + lease))
      ON DUPLICATE KEY UPDATE asked_at = IF(asked_at <= \(now - period), VALUES(asked_at), asked_at)
      """
    ).affectedRows > 0
  }

  package static func note(
    _ customer: String, askedAt instant: Timestamp, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      "UPDATE refund_sweeps SET asked_at = \(instant) WHERE \(in: scope) AND customer = \(customer)")
  }

  /// Deletes some customers whose last request was before `date`.
  ///
  /// Returns whether there may be more.
  package static func purge(
    askedBefore date: Timestamp, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let customers = try session.query(
      """
      SELECT customer FROM \(Table.refundSweeps.by("in_order")) WHERE \(in: scope) AND asked_at < \(date)
      ORDER BY asked_at LIMIT \(purgedAtOnce)
      """
    ).map { row throws(DatabaseError) in try row.text("customer") }
    guard !customers.isEmpty else { return false }
    _ = try session.execute(
      "DELETE refund_sweeps FROM \(Table.refundSweeps.each(customers, in: scope)) WHERE asked_at < \(date)")
    return customers.count == purgedAtOnce
  }

  private static let purgedAtOnce = 500
}
