package import Database
package import Ledger
import Purchases
package import Time

/// What Apple posts for an app in one environment, as far as it was seen here: in which version, and since when.
package struct NotificationArrival: Sendable {
  /// What is to be done about it.
  package enum State: String, Sendable {
    /// Nothing was ever heard.
    case silent
    /// Version 1 alone.
    case v1
    /// Version 2, and version 1 not long ago: Apple may still be trying to deliver what it began with.
    case both
    /// Version 2 alone, for long enough.
    case v2
  }

  package let standing: AppRollout
  /// When the last notification of each version came.
  package let lastV1: Timestamp?
  package let lastV2: Timestamp?
  /// The service's own TEST notification; nil: none was asked for.
  package let heartbeat: Heartbeat?
  package let state: State

  /// For how long Apple tries to deliver what it began in version 1.
  package static let lateV1 = Interval.hours(78)

  /// Whether nothing came for longer than a daily TEST takes, or the service's own TEST is lost.
  package func isQuiet(at now: Timestamp) -> Bool {
    guard let last = [lastV1, lastV2].compactMap(\.self).max() else { return false }
    return heartbeat?.lostSince != nil || now - last > .hours(25)
  }

  /// Up to when a late V1 notification may still come; nil where none is waited for.
  package var lateUntil: Timestamp? { state == .both ? lastV1.map { $0 + Self.lateV1 } : nil }

  /// Of each environment; `NoSuchApp` when the app is not registered.
  package static func all(
    of bundleID: String, at now: Timestamp, on connection: Connection
  ) async throws -> [NotificationArrival] {
    _ = try await AppRecord.find(bundleID, connection)
    return try await connection.read { session throws(DatabaseError) in
      var all: [NotificationArrival] = []
      for standing in try AppRollout.all(in: session) where standing.app.bundleID == bundleID {
        let heard = try NotificationHealth.lastHeard(of: standing.scope, in: session)
        let (v1, v2) = (heard[.v1], heard[.v2])
        let state: State =
          switch (v1, v2) {
          case (nil, nil): .silent
          case (_?, nil): .v1
          case (nil, _?): .v2
          // The version was set back to 1.
          case (let v1?, let v2?): v1 > v2 + .hours(25) ? .v1 : now - v1 < lateV1 ? .both : .v2
          }
        all.append(
          NotificationArrival(
            standing: standing, lastV1: v1, lastV2: v2,
            heartbeat: try HeartbeatTable.last(of: standing.scope, in: session), state: state))
      }
      return all
    }
  }
}
