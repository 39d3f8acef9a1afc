import Glibc
import Time

/// A time on the machine's monotonic clock, in milliseconds, because wall clocks may jump.
struct Deadline: Comparable, Sendable {
  private let milliseconds: Int64

  init(milliseconds: Int64) { self.milliseconds = milliseconds }

  static let never = Deadline(milliseconds: .max)

  /// Returns the time with the precision of a kernel tick (some 4 ms), at almost no cost, because each request reads it
  /// several times.
  static func now() -> Self {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Self(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }

  static func `in`(_ interval: Interval) -> Self { now() + interval }

  func milliseconds(since other: Self) -> Int64 { milliseconds - other.milliseconds }

  static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }
  static func + (a: Self, b: Interval) -> Self { Self(milliseconds: a.milliseconds + b.milliseconds) }
}
