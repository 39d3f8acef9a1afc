import Synchronization
package import Time

/// A clock for tests and simulations: it moves only when told to.
package final class SteppedClock: Sendable {
  private let instant: Mutex<Timestamp>

  package init(at start: Timestamp) { instant = Mutex(start) }

  package func advance(by interval: Interval) { instant.withLock { $0 = $0 + interval } }

  package var clock: WallClock { WallClock { self.instant.withLock { $0 } } }
}
