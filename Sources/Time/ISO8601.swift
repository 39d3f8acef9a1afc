extension Milliseconds {
  /// The instant as `2026-11-21T00:45:48.123Z`, proleptic Gregorian, always UTC, milliseconds only when there are any.
  public var iso8601: String {
    let milliseconds = sinceEpoch.flooredRemainder(1_000)
    let second = wholeSeconds.flooredRemainder(86_400)
    let (year, month, day) = Self.civil(daysSinceEpoch: wholeSeconds.flooredQuotient(86_400))
    let date = "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
    let time = "\((second / 3_600).padded(2)):\((second / 60 % 60).padded(2)):\((second % 60).padded(2))"
    return milliseconds == 0 ? "\(date)T\(time)Z" : "\(date)T\(time).\(milliseconds.padded(3))Z"
  }

  /// Year, month and day of a count of days since 1970-01-01 (Howard Hinnant's civil-date arithmetic).
  public static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let z = daysSinceEpoch + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}

extension Int64 {
  fileprivate func padded(_ width: Int) -> String {
    let digits = String(magnitude)
    return (self < 0 ? "-" : "")
      + String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
