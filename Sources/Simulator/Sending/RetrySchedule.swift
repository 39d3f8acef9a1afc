import Signing
package import Time

/// When Apple tries again after a notification was not taken.
///
/// Apple: "Responding to App Store Server Notifications". The sandbox tries once.
package enum RetrySchedule {
  /// After the attempt before, in hours.
  package static func hours(_ version: NotificationVersion) -> [Int64] {
    switch version {
    case .v1: [6, 24, 48]
    case .v2: [1, 12, 24, 48, 72]
    }
  }

  /// Nil when there is no further one.
  ///
  /// - Parameter count: of the attempts so far, the one that failed at `last` included.
  package static func next(
    after count: Int, last: Timestamp, version: NotificationVersion, isSandbox: Bool
  ) -> Timestamp? {
    let hours = hours(version)
    guard !isSandbox, (1...hours.count).contains(count) else { return nil }
    return last + .hours(hours[count - 1])
  }
}
