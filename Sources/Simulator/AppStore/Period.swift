package import Time

/// The length of a subscription's period or of an offer in ISO 8601: `P1W`, `P1M`, `P1Y`.
///
/// The sandbox shortens periods to minutes; the simulator does not.
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

  func times(_ count: Int) -> Self {
    switch self {
    case .days(let n): .days(n * count)
    case .weeks(let n): .weeks(n * count)
    case .months(let n): .months(n * count)
    case .years(let n): .years(n * count)
    }
  }

  /// Returns the same time of day after the period, on the last day if the month is too short.
  package func end(after start: Timestamp) -> Timestamp {
    switch self {
    case .days(let n): start + .days(Int64(n))
    case .weeks(let n): start + .days(7 * Int64(n))
    case .months(let n): Self.adding(months: Int64(n), to: start)
    case .years(let n): Self.adding(months: 12 * Int64(n), to: start)
    }
  }

  /// The longest billing grace that App Store Connect offers for the period: 6 days for a week, otherwise 16.
  package var grace: Interval {
    switch self {
    case .days, .weeks: .days(6)
    case .months, .years: .days(16)
    }
  }

  private static let day: Int64 = 86_400_000

  private static func adding(months: Int64, to start: Timestamp) -> Timestamp {
    // No simulated date is before 1970, so quotients need no rounding down.
    let date = Timestamp.civil(daysSinceEpoch: start.sinceEpoch / day)
    let month = date.year * 12 + date.month - 1 + months
    let first = CivilMonth.firstDay(of: month)
    let length = CivilMonth.firstDay(of: month + 1) - first
    return Timestamp((first + min(date.day, length) - 1) * day + start.sinceEpoch % day)
  }
}
