package import Database
import Purchases
package import Time

package struct UnfetchedIDs: Hashable, Sendable {
  /// The IDs of jobs that can continue, or with an open lookup.
  package private(set) var waiting = 0
  /// The IDs of canceled jobs, which no process will look up.
  package private(set) var cancelled = 0
  /// The newest of those canceled jobs, or `nil`.
  package private(set) var cancelledJob: Int?

  // The work of each ID `m`: `p` in Production, `s` in Sandbox. Each needs one index lookup.
  private static let work: SQL = """
    LEFT JOIN work p FORCE INDEX (app) ON p.app = m.app AND p.environment = \(Environment.production.code)
      AND p.kind = \(HistoryJobTable.Kind.history.rawValue) AND p.subject = m.id
      AND m.environment IN (0, \(Environment.production.code))
    LEFT JOIN work s FORCE INDEX (app) ON s.app = m.app AND s.environment = \(Environment.sandbox.code)
      AND s.kind = \(HistoryJobTable.Kind.history.rawValue) AND s.subject = m.id
      AND m.environment IN (0, \(Environment.sandbox.code))
    """

  /// Returns the counts for an app's jobs, with IDs without an environment, without IDs that have a later lookup.
  ///
  /// - Parameters:
  ///   - young: counts waiting IDs that were handed out since then. `HistoryJobTable.unsettled` counts older ones.
  ///   - decided: excludes jobs that were canceled earlier.
  package static func read(
    in scope: AppScope, handedOutSince young: Timestamp, cancelledAfter decided: Timestamp,
    _ session: borrowing Session
  ) throws(DatabaseError) -> Self {
    var unasked = Self()
    for row in try session.query(
      """
      SELECT j.state = \(MigrationJob.State.cancelled.rawValue) AND p.subject IS NULL AND s.subject IS NULL
        AS is_cancelled,
        COUNT(DISTINCT m.environment, m.id) AS count, MAX(j.id) AS job
      FROM migration_jobs j JOIN (SELECT 0 AS code UNION ALL SELECT \(digits: Int64(scope.environment.code))) e
      JOIN (SELECT 0 AS state UNION ALL SELECT 1) a
      JOIN migration_ids m FORCE INDEX (by_state) ON m.job = j.id AND m.state = a.state
        AND m.app = \(scope.app.number) AND m.environment = e.code
      """ + " " + work + """
         WHERE (p.subject IS NULL AND s.subject IS NULL
            AND (j.state <> \(MigrationJob.State.cancelled.rawValue) OR j.finished_at > \(decided)))
          OR (p.state = 0 AND p.is_again = 0 AND p.created_at >= \(young))
          OR (s.state = 0 AND s.is_again = 0 AND s.created_at >= \(young))
        GROUP BY is_cancelled
        """)
    {
      if try row.bool("is_cancelled") {
        (unasked.cancelled, unasked.cancelledJob) = (try row.int("count"), try row.int("job"))
      } else {
        unasked.waiting = try row.int("count")
      }
    }
    return unasked
  }

  /// Returns the number of unread parts of unfinished jobs.
  ///
  /// The number of IDs in them is unknown.
  package static func unreadParts(in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Int {
    let final = MigrationJob.State.allCases.filter(\.isFinal).map(\.rawValue)
    return try session.query(
      """
      SELECT COUNT(*) AS count FROM migration_jobs j JOIN migration_parts p ON p.job = j.id AND p.state = 0
      WHERE j.state NOT IN (\(list: final)) AND (j.app IS NULL OR j.app = \(scope.app.number))
        AND (j.environment IS NULL OR j.environment = \(scope.environment.code))
      """
    ).first?.int("count") ?? 0
  }

  /// Returns the number of a job's IDs that were never handed out and have no other lookup.
  package static func count(of job: Int, in session: borrowing Session) throws(DatabaseError) -> Int {
    try session.query(
      """
      SELECT COUNT(*) AS count FROM migration_ids m FORCE INDEX (by_state)
      """ + " " + work + """
         WHERE m.job = \(job) AND m.state = \(MigrationIDTable.State.waiting.rawValue)
          AND p.subject IS NULL AND s.subject IS NULL
        """
    ).first?.int("count") ?? 0
  }
}
