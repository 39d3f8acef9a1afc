package import Database
package import Time

/// `refund_sweeps`: when Apple was asked for the refunds of each customer last.
package enum RefundSweepTable {
  /// For how long a customer is another process's who began to ask; longer than any answer takes.
  private static let lease = Interval.minutes(15)

  /// Takes a customer for this process, if they were not asked about for `period`; false when they were, or another process
  /// is about to.
  ///
  /// - Parameter customer: the label of the customer, or an originalTransactionId that nothing links.
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

  /// Notes when a customer counts as asked about.
  package static func note(
    _ customer: String, askedAt instant: Timestamp, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      "UPDATE refund_sweeps SET asked_at = \(instant) WHERE \(in: scope) AND customer = \(customer)")
  }

  /// Forgets some of those who were asked about before `date`; whether there may be more.
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
