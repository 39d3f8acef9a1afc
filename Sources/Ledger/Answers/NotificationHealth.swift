package import Database
import Purchases
package import Time

/// Whether Apple's notifications arrive, for an app in one environment.
///
/// Read once for many customers.
package struct NotificationHealth: Hashable, Sendable {
  package enum Generation: Int, Hashable, Sendable {
    /// Verified, and compared with Apple's notification history.
    case v2 = 2
    /// Compared with the renewals that were due.
    case v1 = 1
  }

  package var generation: Generation
  /// The last returned heartbeat or verified message within 25 hours.
  ///
  /// With V1, the last body.
  package var lastHeard: Timestamp?
  /// The request time of the first heartbeat that did not come back.
  package var lostSince: Timestamp?
  /// The end of the period in which Apple's notification history was compared with the received notifications.
  package var comparedUntil: Timestamp?
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

  /// The time for which a message proves that notifications arrive.
  ///
  /// Heartbeats come once a day.
  package static let heard = Interval.hours(25)

  /// Returns the time of the last accepted notification of each generation, to a minute, from any sender.
  package static func lastHeard(
    of scope: AppScope, in session: borrowing Session
  ) throws(DatabaseError) -> [Generation: Timestamp] { try LastNotificationTable.last(of: scope, in: session) }

  /// Whether a V2 notification proves at `instant` that notifications arrive.
  ///
  /// Notifications before `start` do not count.
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
    // Every holder of the shared secret can send V1. If a heartbeat ever came back, Apple is set to send V2.
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
