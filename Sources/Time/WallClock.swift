/// Tells what time it is; handed in, so that nothing below the command line asks the machine.
public struct WallClock: Sendable {
  private let read: @Sendable () -> Milliseconds

  public init(_ read: @escaping @Sendable () -> Milliseconds) { self.read = read }

  public func now() -> Milliseconds { read() }

  /// A clock that stands still at `instant`.
  public static func fixed(at instant: Milliseconds) -> Self { Self { instant } }
}
