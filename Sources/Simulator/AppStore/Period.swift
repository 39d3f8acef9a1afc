package import Time

/// The length of a subscription's period or of an offer, as ISO 8601 writes it: `P1W`, `P1M`, `P1Y`.
///
/// The sandbox shortens periods to minutes; the simulator lets them take their time.
package enum Period: Hashable, Sendable {
  case days(Int)
  case weeks(Int)
  case months(Int)
  case years(Int)

  package var iso8601: String {
    switch self {
    case .days(let n): "P\(n)D"
    case .weeks(let n): "P\(n)W"
    case .months(let n): "P\(n)M"
    case .years(let n): "P\(n)Y"
    }
  }

  /// The same time of day after the period; on the last day of a month that is too short for it.
  package func end(after start: Milliseconds) -> Milliseconds {
    switch self {
    case .days(let n): start + .days(Int64(n))
    case .weeks(let n): start + .days(7 * Int64(n))
    case .months(let n): Self.adding(months: Int64(n), to: start)
    case .years(let n): Self.adding(months: 12 * Int64(n), to: start)
    }
  }

  /// Billing grace as App Store Connect's longest choices are for the period: 6 days for a week, 16 else.
  package var grace: Interval {
    switch self {
    case .days, .weeks: .days(6)
    case .months, .years: .days(16)
    }
  }

  private static let day: Int64 = 86_400_000

  private static func adding(months: Int64, to start: Milliseconds) -> Milliseconds {
    // Nothing simulated happens before 1970, so that quotients need no rounding down.
    let date = Milliseconds.civil(daysSinceEpoch: start.sinceEpoch / day)
    let month = date.year * 12 + date.month - 1 + months
    let first = firstDay(ofMonth: month)
    let length = firstDay(ofMonth: month + 1) - first
    return Milliseconds((first + min(date.day, length) - 1) * day + start.sinceEpoch % day)
  }

  /// Days from 1970 to the first of a month, counted from the year 0: the Gregorian rule of leap years.
  private static func firstDay(ofMonth month: Int64) -> Int64 {
    let (year, index) = (month / 12, Int(month % 12))
    let before: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    let past = year - 1
    let leapDays = past / 4 - past / 100 + past / 400
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    return past * 365 + leapDays - 719_162 + before[index] + (isLeap && index > 1 ? 1 : 0)
  }
}
