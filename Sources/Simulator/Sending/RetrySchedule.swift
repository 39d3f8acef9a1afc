import Signing
package import Time

/// Apple's retry times after a failed delivery.
///
/// Apple: "Responding to App Store Server Notifications". The sandbox tries once.
package enum RetrySchedule {
  /// Returns the hours from each attempt to the next.
  package static func hours(_ version: NotificationVersion) -> [Int64] {
    switch version {
    case .v1: [6, 24, 48]
    case .v2: [1, 12, 24, 48, 72]
    }
  }

  /// Returns the time of the next attempt; `nil` after the last.
  ///
  /// - Parameter count: the number of attempts, including the one that failed at `last`.
  package static func next(
    after count: Int, last: Timestamp, version: NotificationVersion, isSandbox: Bool
  ) -> Timestamp? {
    let hours = hours(version)
    guard !isSandbox, (1...hours.count).contains(count) else { return nil }
    return last + .hours(hours[count - 1])
  }
}
