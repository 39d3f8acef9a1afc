package import Database
package import Time

/// `reconciliations`: when each app was compared with Apple, and up to when.
package enum ReconciliationTable {
  /// Takes the next comparison for this process, if one is due; false when it is not, or another process has it.
  ///
  /// It is due again when the lease ends, should this process be gone by then: `plan` or `finish` says otherwise.
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

  /// Says when the next comparison is due, of those that are made once in `period`.
  package static func plan(
    _ scope: AppScope, next: Timestamp, every period: Interval, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      "UPDATE reconciliations SET claimed_at = \(next - period) WHERE \(in: scope)")
  }

  /// Notes that everything Apple said it sent from `start` up to `end` was compared; nil: from as far back as it tells.
  ///
  /// Where a gap is left before `start`, all stays as it was: the next scheduled comparison closes it.
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

  /// Up to when Apple's history was compared; nil: never.
  package static func finished(_ scope: AppScope, in session: borrowing Session) throws(DatabaseError) -> Timestamp? {
    try session.query(
      "SELECT finished_until FROM reconciliations WHERE \(in: scope)"
    ).first?.optionalMilliseconds("finished_until")
  }
}
