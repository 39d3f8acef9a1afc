package import Database
package import Time

/// `reconciliations`: the last comparison of each app with Apple, and the end of the compared period.
package enum ReconciliationTable {
  /// Claims the next comparison for this process.
  ///
  /// Returns false if it is not due or another process has it. After a crash it is due again when the lease ends.
  package static func claim(
    _ scope: AppScope, every period: Interval, lease: Interval, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let (app, environment) = (scope.app.number, scope.environment.code)
    let claim = now + lease - period
    let inserted = try session.execute(
      "INSERT IGNORE INTO reconciliations (app, environment, claimed_at) VALUES (\(app), \(environment), \(claim))")
    if inserted.affectedRows == 1 { return true }
    return try session.execute(
      """
      UPDATE reconciliations SET claimed_at = \(claim)
      WHERE app = \(app) AND environment = \(environment) AND claimed_at <= \(now - period)
      """
    ).affectedRows == 1
  }

  package static func plan(
    _ scope: AppScope, next: Timestamp, every period: Interval, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      "UPDATE reconciliations SET claimed_at = \(next - period) WHERE \(in: scope)")
  }

  /// Records that Apple's history from `start` up to `end` was compared.
  ///
  /// `nil`: from its beginning. With a gap before `start`, the row is unchanged: the next scheduled comparison closes
  /// it.
  package static func finish(
    _ scope: AppScope, from start: Timestamp?, until end: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let (app, environment) = (scope.app.number, scope.environment.code)
    if start == nil {
      _ = try session.execute(
        "INSERT IGNORE INTO reconciliations (app, environment, claimed_at) VALUES (\(app), \(environment), \(end))")
    }
    _ = try session.execute(
      """
      UPDATE reconciliations
      SET claimed_at = GREATEST(claimed_at, \(end)), finished_until = GREATEST(COALESCE(finished_until, 0), \(end))
      WHERE app = \(app) AND environment = \(environment)
      AND (\(start) IS NULL OR COALESCE(finished_until, 0) >= \(start))
      """)
  }

  /// Returns the end of the compared part of Apple's history, or `nil` before the first comparison.
  package static func finished(_ scope: AppScope, in session: borrowing Session) throws(DatabaseError) -> Timestamp? {
    try session.query(
      "SELECT finished_until FROM reconciliations WHERE \(in: scope)"
    ).first?.optionalMilliseconds("finished_until")
  }
}
