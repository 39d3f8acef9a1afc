/// An instant: milliseconds since 1970-01-01T00:00:00Z, as Apple writes dates.
///
/// An integer from wire to table: never a `Double`, never the time of day of this machine. Years before 1970 are
/// negative (Xcode sends year 1 for "no date"). Arithmetic saturates: anybody may write any 64 bits into a date that is
/// looked at before its signature is, and no date may stop the process.
public struct Timestamp: Hashable, Comparable, Sendable {
  public var sinceEpoch: Int64

  public init(_ sinceEpoch: Int64) { self.sinceEpoch = sinceEpoch }

  public static func < (a: Self, b: Self) -> Bool { a.sinceEpoch < b.sinceEpoch }

  public static func + (a: Self, b: Interval) -> Self { Self(a.sinceEpoch.addingSaturated(b.milliseconds)) }
  public static func - (a: Self, b: Interval) -> Self { Self(a.sinceEpoch.subtractingSaturated(b.milliseconds)) }
  public static func - (a: Self, b: Self) -> Interval {
    .milliseconds(a.sinceEpoch.subtractingSaturated(b.sinceEpoch))
  }

  /// Whole seconds since 1970, rounded down: all that a receipt tells of an instant.
  public var wholeSeconds: Int64 { sinceEpoch.flooredQuotient(1_000) }
}

/// A length of time in whole milliseconds; what exceeds 64 bits of them stops there.
public struct Interval: Hashable, Comparable, Sendable {
  public var milliseconds: Int64

  public static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

  public static func milliseconds(_ n: Int64) -> Self { Self(milliseconds: n) }
  public static func seconds(_ n: Int64) -> Self { Self(milliseconds: n.multipliedSaturated(1_000)) }
  public static func minutes(_ n: Int64) -> Self { Self(milliseconds: n.multipliedSaturated(60_000)) }
  public static func hours(_ n: Int64) -> Self { Self(milliseconds: n.multipliedSaturated(3_600_000)) }
  public static func days(_ n: Int64) -> Self { Self(milliseconds: n.multipliedSaturated(86_400_000)) }
}

extension Int64 {
  fileprivate func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  fileprivate func subtractingSaturated(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  fileprivate func multipliedSaturated(_ factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? (self < 0 ? .min : .max) : product
  }

  /// Division by a positive number that rounds down, also below zero.
  func flooredQuotient(_ divisor: Int64) -> Int64 { self / divisor - (self % divisor < 0 ? 1 : 0) }

  /// What `flooredQuotient` leaves: never negative.
  func flooredRemainder(_ divisor: Int64) -> Int64 {
    let remainder = self % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}
