import Synchronization

/// The longest turn of the event loops in the last one to two minutes.
///
/// While a turn lasts its loop serves none of its other connections. Turns below a millisecond are not noted.
final class EventLoopStallTracker: Sendable {
  private struct Minutes {
    /// When the current minute ends.
    var end: ContinuousClock.Instant?
    var current = Duration.zero
    var previous = Duration.zero

    /// Begins the minute in which `now` is.
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

  /// The longest turn of the last one to two minutes; 0 if none was noted.
  func longest(at now: ContinuousClock.Instant = .now) -> Duration {
    minutes.withLock { minutes in
      minutes.advance(to: now)
      return max(minutes.current, minutes.previous)
    }
  }
}
