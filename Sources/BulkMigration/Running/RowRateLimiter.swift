import Time

/// Holds rows to a rate: so many a second on average, each batch after the one before.
struct RowRateLimiter {
  /// When the next rows may come, in time since some fixed moment.
  private var next: Interval?

  init() {}

  /// How long so many rows have to wait, none not at all; they count from then on.
  ///
  /// - Parameter rate: rows in a second; nil: no limit.
  mutating func pause(_ rows: Int, perSecond rate: Int?, at now: Interval) -> Interval {
    guard let rate, rate > 0, rows > 0 else { return .milliseconds(0) }
    let start = max(now.milliseconds, next?.milliseconds ?? 0)
    next = .milliseconds(start + Int64(rows) * 1_000 / Int64(rate))
    return .milliseconds(start - now.milliseconds)
  }

  /// How many rows of a table are read at once, so that a low rate is no burst of many rows; nil: no limit.
  static func mostRows(perSecond rate: Int?) -> Int? { rate.map { max(1, $0 / 4) } }
}
