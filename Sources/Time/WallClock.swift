/// Tells what time it is; handed in, so that nothing below the command line asks the machine.
public struct WallClock: Sendable {
  private let read: @Sendable () -> Timestamp

  public init(_ read: @escaping @Sendable () -> Timestamp) { self.read = read }

  public func now() -> Timestamp { read() }

  /// A clock that stands still at `instant`.
  public static func fixed(at instant: Timestamp) -> Self { Self { instant } }
}
