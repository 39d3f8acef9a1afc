package import Database
package import Ledger
import Purchases
package import Time

/// The notifications that arrive for an app in one environment: their versions and times.
package struct NotificationArrival: Sendable {
  /// The state of the change to V2.
  package enum State: String, Sendable {
    /// No notification ever arrived.
    case silent
    /// Only version 1.
    case v1
    /// Version 2, and recently version 1: Apple may still retry earlier notifications.
    case both
    /// Only version 2, for long enough.
    case v2
  }

  package let standing: AppRollout
  /// The last notification of each version.
  package let lastV1: Timestamp?
  package let lastV2: Timestamp?
  package let heartbeat: Heartbeat?
  package let state: State

  /// The time for which Apple retries a notification in version 1.
  package static let lateV1 = Interval.hours(78)

  /// Whether no notification came for longer than a daily TEST takes, or the service's own TEST is lost.
  package func isQuiet(at now: Timestamp) -> Bool {
    guard let last = [lastV1, lastV2].compactMap(\.self).max() else { return false }
    return heartbeat?.lostSince != nil || now - last > .hours(25)
  }

  /// The time until which a late V1 notification may arrive, or `nil`.
  package var lateUntil: Timestamp? { state == .both ? lastV1.map { $0 + Self.lateV1 } : nil }

  /// Returns the arrival in each environment.
  ///
  /// Throws `NoSuchApp`.
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
