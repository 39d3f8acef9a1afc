package import Database
import Purchases
package import Time

package struct Heartbeat: Hashable, Sendable {
  package let scope: AppScope
  package let askedAt: Timestamp
  package let dueBy: Timestamp
  /// Apple's test notification token.
  ///
  /// `nil` if Apple refused the request.
  package let token: String?
  /// Without a token: the time when the request was found impossible.
  package let returnedAt: Timestamp?
  /// The request time of the first lost test notification.
  ///
  /// `nil` if none is lost.
  package let lostSince: Timestamp?
  /// The reason of the loss.
  ///
  /// Without a loss, the reason why no test can be requested.
  package let failure: String?

  /// The reason why lost notifications would not be noticed here.
  ///
  /// `nil` while tests are requested.
  package var unwatched: String? { lostSince == nil && token == nil && returnedAt != nil ? failure : nil }
}

/// `heartbeats`: the last heartbeat of each app and environment.
package enum HeartbeatTable {
  /// Claims the next heartbeat for this process.
  ///
  /// Returns false if it is not due or another process has it.
  package static func claim(
    _ scope: AppScope, every period: Interval, within: Interval, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let (app, environment) = (scope.app.number, scope.environment.code)
    let inserted = try session.execute(
      """
      INSERT IGNORE INTO heartbeats (app, environment, asked_at, due_by)
      VALUES (\(app), \(environment), \(now), \(now + within))
      """)
    if inserted.affectedRows == 1 { return true }
    return try session.execute(
      """
      UPDATE heartbeats SET watched_at = IF(token IS NULL, watched_at, COALESCE(returned_at, watched_at)),
        asked_at = \(now), due_by = \(now + within), token = NULL, returned_at = NULL
      WHERE app = \(app) AND environment = \(environment) AND asked_at <= \(now - period) AND due_by <= \(now)
      """
    ).affectedRows == 1
  }

  package static func sent(
    _ token: String, _ scope: AppScope, askedAt: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      "UPDATE heartbeats SET token = \(token) WHERE \(in: scope) AND asked_at = \(askedAt)")
  }

  /// Releases a heartbeat that was claimed at `askedAt` and not requested.
  ///
  /// It is due immediately.
  package static func release(
    _ scope: AppScope, every period: Interval, askedAt: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let before = askedAt - period
    _ = try session.execute(
      """
      UPDATE heartbeats SET asked_at = \(before), due_by = \(before), returned_at = \(before), token = NULL
      WHERE \(in: scope) AND asked_at = \(askedAt) AND token IS NULL
      """)
  }

  /// Records that no test could be requested.
  ///
  /// The next is due as usual.
  ///
  /// - Parameter reason: why lost notifications are not noticed there. `nil` if there are no notifications to lose.
  package static func withdrawn(
    _ scope: AppScope, askedAt: Timestamp, because reason: String? = nil, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE heartbeats SET returned_at = asked_at, token = NULL, lost_since = NULL,
        failure = \(reason?.cut(to: 255)) WHERE \(in: scope) AND asked_at = \(askedAt)
      """)
  }

  /// Whether the ledger has any purchase there.
  package static func hasPurchases(in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Bool {
    try session.query(
      "SELECT 1 FROM purchases WHERE \(in: scope) LIMIT 1"
    ).first != nil
  }

  /// Whether Apple ever sent a V2 notification there: a returned test, or one in Apple's history.
  package static func wasWatched(_ scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Bool {
    try session.query(
      """
      SELECT 1 FROM heartbeats WHERE \(in: scope) AND watched_at IS NOT NULL
      UNION ALL SELECT 1 FROM completeness WHERE \(in: scope) AND measure = \(Completeness.Measure.notifications.rawValue)
        AND arrived > 0
      LIMIT 1
      """
    ).first != nil
  }

  /// Whether Apple ever sent a V2 notification there, to a build that records it.
  package static func hearsNotifications(_ scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Bool
  {
    try LastNotificationTable.last(of: scope, in: session)[.v2] != nil
  }

  package static func hearsLegacy(
    _ scope: AppScope, since instant: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.query(
      """
      SELECT 1 FROM inbox WHERE received_at >= \(instant) AND \(in: scope) AND kind = \(InboxMessage.Kind.notification.rawValue)
      AND title LIKE 'V1 %' ORDER BY received_at DESC LIMIT 1
      """
    ).first != nil
  }

  package static func returned(
    _ heartbeat: Heartbeat, at instant: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE heartbeats SET returned_at = \(instant), watched_at = \(instant), lost_since = NULL, failure = NULL
      WHERE \(in: heartbeat.scope) AND asked_at = \(heartbeat.askedAt)
      """)
  }

  package static func lost(
    _ scope: AppScope, askedAt: Timestamp, because failure: String, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE heartbeats SET lost_since = COALESCE(lost_since, asked_at), failure = \(failure.cut(to: 255))
      WHERE \(in: scope) AND asked_at = \(askedAt) AND returned_at IS NULL
      """)
  }

  /// Returns when a TEST notification arrived since the request of the heartbeat, or `nil`.
  package static func arrival(
    for heartbeat: Heartbeat, in session: borrowing Session
  ) throws(DatabaseError) -> Timestamp? {
    try session.query(
      """
      SELECT MIN(received_at) AS at FROM inbox WHERE received_at >= \(heartbeat.askedAt) AND \(in: heartbeat.scope)
      AND title = 'TEST' AND kind = \(InboxMessage.Kind.notification.rawValue)
      """
    ).first?.optionalMilliseconds("at")
  }

  package static func all(in session: borrowing Session) throws(DatabaseError) -> [Heartbeat] {
    try read("ORDER BY h.app, h.environment", in: session)
  }

  package static func last(of scope: AppScope, in session: borrowing Session) throws(DatabaseError) -> Heartbeat? {
    try read("AND h.app = \(scope.app.number) AND h.environment = \(scope.environment.code)", in: session).first
  }

  private static func read(_ further: SQL, in session: borrowing Session) throws(DatabaseError) -> [Heartbeat] {
    var heartbeats: [Heartbeat] = []
    for row in try session.query(
      """
      SELECT h.app, h.environment, h.asked_at, h.due_by, h.token, h.returned_at, h.lost_since, h.failure
      FROM heartbeats h JOIN apps a ON a.id = h.app WHERE a.removed_at IS NULL \(further)
      """)
    {
      heartbeats.append(
        Heartbeat(
          scope: AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment"))),
          askedAt: try row.milliseconds("asked_at"), dueBy: try row.milliseconds("due_by"),
          token: try row.optionalText("token"), returnedAt: try row.optionalMilliseconds("returned_at"),
          lostSince: try row.optionalMilliseconds("lost_since"), failure: try row.optionalText("failure")))
    }
    return heartbeats
  }
}
