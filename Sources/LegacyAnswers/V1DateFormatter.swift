import Time

/// Writes dates as V1 does: `2020-07-22 17:39:08 Etc/GMT`, and the same in `America/Los_Angeles`.
struct V1DateFormatter {
  /// The year whose daylight-saving time was looked up last: most dates of an answer share one.
  private var year: Int64 = .min
  private var begins: Int64 = 0
  private var ends: Int64 = 0

  /// Appends the quoted date in GMT.
  func appendGMT(_ date: Timestamp, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    Self.append(seconds: date.wholeSeconds, to: &bytes)
    bytes.append(contentsOf: Self.gmt)
  }

  /// Appends the quoted date in the local time of Apple's servers.
  mutating func appendPacific(_ date: Timestamp, to bytes: inout [UInt8]) {
    let seconds = date.wholeSeconds
    bytes.append(UInt8(ascii: "\""))
    Self.append(seconds: seconds - (isDaylightSaving(seconds) ? 7 : 8) * 3_600, to: &bytes)
    bytes.append(contentsOf: Self.pacific)
  }

  private static let gmt = Array(" Etc/GMT\"".utf8)
  private static let pacific = Array(" America/Los_Angeles\"".utf8)

  /// By the law of the United States: since 2007 from the second Sunday of March to the first of November, from 1987 the
  /// first Sunday of April to the last of October, before that the last of April.
  private mutating func isDaylightSaving(_ seconds: Int64) -> Bool {
    let local = Timestamp.civil(daysSinceEpoch: Self.days(seconds - 8 * 3_600)).year
    if local != year {
      year = local
      let (first, last) =
        switch local {
        case 2007...: (Self.sunday(onOrAfter: 8, month: 3, local), Self.sunday(onOrAfter: 1, month: 11, local))
        case 1987...2006: (Self.sunday(onOrAfter: 1, month: 4, local), Self.sunday(onOrAfter: 25, month: 10, local))
        default: (Self.sunday(onOrAfter: 24, month: 4, local), Self.sunday(onOrAfter: 25, month: 10, local))
        }
      // At two o'clock: of standard time when it begins, of daylight-saving time when it ends.
      begins = first * 86_400 + 10 * 3_600
      ends = last * 86_400 + 9 * 3_600
    }
    return seconds >= begins && seconds < ends
  }

  /// The day since 1970 of the first Sunday on or after a day; 1970-01-01 was a Thursday.
  private static func sunday(onOrAfter day: Int64, month: Int64, _ year: Int64) -> Int64 {
    let first = Self.day(year, month, day)
    let weekday = ((first + 4) % 7 + 7) % 7
    return first + (7 - weekday) % 7
  }

  /// Days since 1970 of a date (Howard Hinnant's civil-date arithmetic).
  private static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func days(_ seconds: Int64) -> Int64 {
    seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
  }

  private static func append(seconds: Int64, to bytes: inout [UInt8]) {
    let days = days(seconds)
    let (year, month, day) = Timestamp.civil(daysSinceEpoch: days)
    let second = seconds - days * 86_400
    if (1_000...9_999).contains(year) {
      pair(year / 100, to: &bytes)
      pair(year % 100, to: &bytes)
    } else {
      if year < 0 { bytes.append(UInt8(ascii: "-")) }
      let digits = String(year.magnitude)
      bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, 4 - digits.utf8.count)))
      bytes.append(contentsOf: digits.utf8)
    }
    bytes.append(UInt8(ascii: "-"))
    pair(month, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    pair(day, to: &bytes)
    bytes.append(UInt8(ascii: " "))
    pair(second / 3_600, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(second / 60 % 60, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(second % 60, to: &bytes)
  }

  private static func pair(_ value: Int64, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
  }

  /// Appends the digits of a whole number.
  static func append(_ value: Int64, to bytes: inout [UInt8]) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }
}
