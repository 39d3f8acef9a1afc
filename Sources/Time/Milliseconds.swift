/// An instant: milliseconds since 1970-01-01T00:00:00Z, as Apple writes dates.
///
/// An integer from wire to table: never a `Double`, never the time of day of this machine. Years before 1970 are
/// negative (Xcode sends year 1 for "no date").
public struct Milliseconds: Hashable, Comparable, Sendable {
  public var sinceEpoch: Int64

  public init(_ sinceEpoch: Int64) { self.sinceEpoch = sinceEpoch }

  public static func < (a: Self, b: Self) -> Bool { a.sinceEpoch < b.sinceEpoch }

  public static func + (a: Self, b: Interval) -> Self { Self(a.sinceEpoch + b.milliseconds) }
  public static func - (a: Self, b: Interval) -> Self { Self(a.sinceEpoch - b.milliseconds) }
  public static func - (a: Self, b: Self) -> Interval { .milliseconds(a.sinceEpoch - b.sinceEpoch) }
}

/// A length of time in whole milliseconds.
public struct Interval: Hashable, Comparable, Sendable {
  public var milliseconds: Int64

  public static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

  public static func milliseconds(_ n: Int64) -> Self { Self(milliseconds: n) }
  public static func seconds(_ n: Int64) -> Self { Self(milliseconds: n * 1_000) }
  public static func minutes(_ n: Int64) -> Self { .seconds(n * 60) }
  public static func hours(_ n: Int64) -> Self { .minutes(n * 60) }
  public static func days(_ n: Int64) -> Self { .hours(n * 24) }
}
