import Synchronization

/// The longest pass of the event loops in the last one to two minutes.
///
/// During a pass its loop serves none of its other connections. Passes below a millisecond are not recorded.
final class EventLoopStallTracker: Sendable {
  private struct Minutes {
    var end: ContinuousClock.Instant?
    var current = Duration.zero
    var previous = Duration.zero

    /// Begins the minute of `now`.
    mutating func advance(to now: ContinuousClock.Instant) {
      if let end, now < end { return }
      let isNext = end.map { now < $0 + EventLoopStallTracker.minute } ?? false
      (previous, current) = (isNext ? current : .zero, .zero)
      end = now + EventLoopStallTracker.minute
    }
  }

  private let minutes = Mutex(Minutes())

  private static let minute = Duration.seconds(60)
  private static let shortest = Duration.milliseconds(1)

  func note(_ turn: Duration, at now: ContinuousClock.Instant) {
    guard turn >= Self.shortest else { return }
    minutes.withLock { minutes in
      minutes.advance(to: now)
      minutes.current = max(minutes.current, turn)
    }
  }

  /// Returns the longest pass of the last one to two minutes; 0 without one.
  func longest(at now: ContinuousClock.Instant = .now) -> Duration {
    minutes.withLock { minutes in
      minutes.advance(to: now)
      return max(minutes.current, minutes.previous)
    }
  }
}
