package import Database
package import Time

/// `reconciliations`: when each app was compared with Apple, and up to when.
package enum ReconciliationTable {
  /// Takes the next comparison for this process, if one is due; false when it is not, or another process has it.
  package static func claim(
    _ scope: Ledger.Scope, every period: Interval, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let (app, environment) = (scope.app.number, scope.environment.code)
    let inserted = try session.execute(
      "INSERT IGNORE INTO reconciliations (app, environment, claimed_at) VALUES (\(app), \(environment), \(now))")
    if inserted.affectedRows == 1 { return true }
    return try session.execute(
      """
      UPDATE reconciliations SET claimed_at = \(now)
      WHERE app = \(app) AND environment = \(environment) AND claimed_at <= \(now - period)
      """
    ).affectedRows == 1
  }

  /// Notes that everything Apple said it sent before `end` was compared.
  package static func finish(
    _ scope: Ledger.Scope, until end: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO reconciliations (app, environment, claimed_at, finished_until)
      VALUES (\(scope.app.number), \(scope.environment.code), \(end), \(end))
      ON DUPLICATE KEY UPDATE finished_until = GREATEST(COALESCE(finished_until, 0), VALUES(finished_until))
      """)
  }

  /// Up to when Apple's history was compared; nil: never.
  package static func finished(
    _ scope: Ledger.Scope, in session: borrowing Session
  ) throws(DatabaseError) -> Milliseconds? {
    try session.query(
      """
      SELECT finished_until FROM reconciliations
      WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
      """
    ).first?.optionalMilliseconds("finished_until")
  }
}
