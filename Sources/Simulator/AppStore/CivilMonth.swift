import Time

/// Months of the Gregorian calendar, counted from the year 0.
enum CivilMonth {
  /// The days from 1970-01-01 to the first of a month after it.
  static func firstDay(of month: Int64) -> Int64 {
    let (year, index) = (month / 12, Int(month % 12))
    let before: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    let past = year - 1
    let leapDays = past / 4 - past / 100 + past / 400
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    return past * 365 + leapDays - 719_162 + before[index] + (isLeap && index > 1 ? 1 : 0)
  }

  /// The first Sunday of a month, plus `weeks`, in days from 1970-01-01.
  static func sunday(of month: Int64, after weeks: Int64 = 0) -> Int64 {
    let first = firstDay(of: month)
    // 1970-01-01 was a Thursday.
    return first + (10 - first % 7) % 7 + 7 * weeks
  }

  /// The last Sunday of a month, in days from 1970-01-01.
  static func lastSunday(of month: Int64) -> Int64 { sunday(of: month + 1) - 7 }
}
