package import Database
import Purchases
package import Time

/// Whether what happens at Apple's reaches us by itself, for an app in one environment: read once for many customers.
package struct NotificationHealth: Hashable, Sendable {
  /// Which notifications Apple sends, and so what is counted of them.
  package enum Generation: Int, Hashable, Sendable {
    /// Proven, and counted against Apple's own history of what it sent.
    case v2 = 2
    /// Counted against the renewals that had to come.
    case v1 = 1
  }

  package var generation: Generation
  /// When the last heartbeat came back, or the last proven message came, within the last day and an hour; of V1 the last body.
  package var lastHeard: Timestamp?
  /// When the first heartbeat was asked for that did not come back.
  package var lostSince: Timestamp?
  /// Up to when everything that Apple says it sent was compared with what came.
  package var comparedUntil: Timestamp?
  /// The end of the last day of which something is missing or was refused.
  package var gapsEndedAt: Timestamp?

  package init(
    generation: Generation = .v2, lastHeard: Timestamp? = nil, lostSince: Timestamp? = nil,
    comparedUntil: Timestamp? = nil, gapsEndedAt: Timestamp? = nil
  ) {
    self.generation = generation
    self.lastHeard = lastHeard
    self.lostSince = lostSince
    self.comparedUntil = comparedUntil
    self.gapsEndedAt = gapsEndedAt
  }

  /// How long a message vouches for the way on which it came: heartbeats come once a day.
  package static let heard = Interval.hours(25)

  /// When the last notification of each generation came by itself, to a minute; from anybody whose message was accepted.
  package static func lastHeard(
    of scope: AppScope, in session: borrowing Session
  ) throws(DatabaseError) -> [Generation: Timestamp] { try LastNotificationTable.last(of: scope, in: session) }

  /// Whether a V2 notification that came by itself vouches for its way at `instant`; one of before `start` does not count.
  package static func wasHeard(
    before instant: Timestamp, after start: Timestamp, of scope: AppScope, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.query(
      """
      SELECT 1 FROM inbox WHERE received_at >= \(max(start, instant - heard)) AND received_at < \(instant)
      AND \(in: scope) AND kind = \(InboxMessage.Kind.notification.rawValue) AND title NOT LIKE 'V1 %' LIMIT 1
      """
    ).first != nil
  }

  package static func read(
    _ scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> NotificationHealth {
    let heartbeat = try HeartbeatTable.last(of: scope, in: session)
    let last = try LastNotificationTable.last(of: scope, in: session).filter { $0.value >= now - heard }
    let (proven, legacy) = (last[.v2], last[.v1])
    let returned = heartbeat.flatMap { $0.token == nil ? nil : $0.returnedAt }
    let heardV2 = [proven, returned].compactMap(\.self).filter { $0 >= now - heard }.max()
    // Anybody with the shared secret can send V1: where a heartbeat ever came back, Apple is set to send V2.
    let isLegacy = heardV2 == nil && legacy != nil && heartbeat?.returnedAt == nil
    var flow = NotificationHealth(generation: isLegacy ? .v1 : .v2)
    flow.lastHeard = flow.generation == .v1 ? legacy : heardV2
    flow.lostSince = heartbeat?.lostSince
    flow.comparedUntil = try ReconciliationTable.finished(scope, in: session)
    let measure: Completeness.Measure = flow.generation == .v1 ? .renewals : .notifications
    let bad = try session.query(
      """
      SELECT MAX(day) AS day FROM completeness
      WHERE \(in: scope) AND measure = \(measure.rawValue) AND (refused > 0 OR arrived + recovered + refused < expected)
      """
    ).first?.optionalMilliseconds("day")
    flow.gapsEndedAt = bad.map { $0 + .days(1) }
    return flow
  }
}
