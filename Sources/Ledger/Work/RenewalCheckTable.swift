package import Database
import Purchases
package import Time

/// `renewal_checks`: the scheduled lookups of subscriptions whose period ends.
package enum RenewalCheckTable {
  private static let upsert = BulkInsert(
    into: "INSERT INTO renewal_checks (app, environment, original_transaction_id, due_at, known_as_of) VALUES",
    then: "ON DUPLICATE KEY UPDATE due_at = VALUES(due_at), known_as_of = VALUES(known_as_of)")

  /// Schedules the checks after stored lookups, and replaces earlier ones.
  static func plan(_ checks: [RenewalCheck], in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) {
    var latest: [String: RenewalCheck] = [:]
    for check in checks where (latest[check.originalTransactionID]?.asOf ?? check.asOf) <= check.asOf {
      latest[check.originalTransactionID] = check
    }
    for ids in latest.values.filter({ $0.dueAt == nil }).map(\.originalTransactionID).sorted().parts() {
      try remove(ids, dueBy: nil, in: scope, session)
    }
    let rows: [[SQLValue]] = latest.values.compactMap { check in
      check.dueAt.map { due in
        scope.columns + [
          .text(check.originalTransactionID), .integer(due.sinceEpoch), .integer(check.asOf.sinceEpoch),
        ]
      }
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
  }

  /// Removes up to `limit` due checks, and queues lookups of those without signed data about the renewal.
  ///
  /// It reads one row of `renewals` for each, regardless of the number of periods.
  ///
  /// - Returns: the number of due checks, and the number of queued lookups.
  package static func begin(
    in scope: AppScope, limit: Int, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) -> (due: Int, asked: Int) {
    var due: [String] = []
    var quiet: [String] = []
    for row in try session.query(
      """
      SELECT c.original_transaction_id AS id, c.due_at, IF(r.as_of > c.known_as_of, r.facts, NULL) AS facts
      FROM renewal_checks c FORCE INDEX (in_order)
      LEFT JOIN renewals r FORCE INDEX (PRIMARY) ON r.app = c.app AND r.environment = c.environment
      AND r.original_transaction_id = c.original_transaction_id AND r.source = \(Source.signedV2.rawValue)
      WHERE c.app = \(scope.app.number) AND c.environment = \(scope.environment.code) AND c.due_at <= \(now)
      ORDER BY c.due_at LIMIT \(limit)
      """)
    {
      let id = try row.text("id")
      due.append(id)
      let facts = try row.optionalBytes("facts").map { facts throws(DatabaseError) in
        try Facts<RenewalField>(stored: facts)
      }
      if try facts?.tellWhatCame(ofPeriodUntil: row.milliseconds("due_at")) != true { quiet.append(id) }
    }
    for ids in due.sorted().parts() { try remove(ids, dueBy: now, in: scope, session) }
    try HistoryJobTable.askAgain(quiet, in: scope, unlessDoneSince: now, at: now, in: session)
    return (due.count, quiet.count)
  }

  package static func counts(in session: borrowing Session) throws(DatabaseError) -> [AppScope: Int] {
    var counts: [AppScope: Int] = [:]
    for row in try session.query(
      "SELECT app, environment, COUNT(*) AS count FROM renewal_checks GROUP BY app, environment")
    {
      let scope = AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment")))
      counts[scope] = try row.int("count")
    }
    return counts
  }

  /// - Parameter date: removes only checks that are due by then, since a lookup may have scheduled the next one
  ///   meanwhile.
  private static func remove(
    _ ids: [String], dueBy date: Timestamp?, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) {
    let checks = Table.renewalChecks.each(ids, in: scope)
    _ = try session.execute(
      "DELETE renewal_checks FROM \(checks) WHERE due_at <= \(date ?? Timestamp(.max))")
  }
}

extension Facts<RenewalField> {
  /// Whether signed renewal info shows the outcome of the period: a renewal beyond its end, or no renewal now.
  ///
  /// Info from mid-period, for example after a product change, still has the period's end as its renewal date.
  fileprivate func tellWhatCame(ofPeriodUntil end: Timestamp) -> Bool {
    if let next = date(.renewalDate), next > end { return true }
    return integer(.autoRenewStatus) == 0 || flag(.isInBillingRetryPeriod) == true
      || self[.gracePeriodExpiresDate] != nil || self[.expirationIntent] != nil
  }
}
