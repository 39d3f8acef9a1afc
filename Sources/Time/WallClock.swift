import Synchronization

/// Tells what time it is; handed in, so that nothing below the command line asks the machine.
public struct WallClock: Sendable {
  private let read: @Sendable () -> Milliseconds

  public init(_ read: @escaping @Sendable () -> Milliseconds) { self.read = read }

  public func now() -> Milliseconds { read() }

  /// A clock that stands still at `instant`.
  public static func fixed(at instant: Milliseconds) -> Self { Self { instant } }
}

/// A clock for tests and simulations: it moves only when told to.
public final class SteppedClock: Sendable {
  private let instant: Mutex<Milliseconds>

  public init(at start: Milliseconds) { instant = Mutex(start) }

  public func advance(by interval: Interval) { instant.withLock { $0 = $0 + interval } }

  public var clock: WallClock { WallClock { self.instant.withLock { $0 } } }
}
