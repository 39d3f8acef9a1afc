extension Timestamp {
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

extension Timestamp {
  /// Days since 1970-01-01 of a date, the inverse of `civil`; of an impossible date those of another one.
  public static func days(ofCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// An RFC 3339 date; nil for another form.
  ///
  /// Xcode's zones have no colon, and years reach 4001.
  public init?(rfc3339 bytes: Span<UInt8>) {
    guard bytes.count >= 20 else { return nil }
    var start = 0
    func digits(_ count: Int) -> Int64? {
      guard start + count <= bytes.count else { return nil }
      var value: Int64 = 0
      for index in start..<start + count {
        let digit = bytes[index] &- UInt8(ascii: "0")
        guard digit <= 9 else { return nil }
        value = value * 10 + Int64(digit)
      }
      start += count
      return value
    }
    func letter(_ letters: UInt8...) -> UInt8? {
      guard start < bytes.count, letters.contains(bytes[start]) else { return nil }
      defer { start += 1 }
      return bytes[start]
    }
    guard let year = digits(4), letter(UInt8(ascii: "-")) != nil, let month = digits(2),
      letter(UInt8(ascii: "-")) != nil, let day = digits(2), letter(UInt8(ascii: "T"), UInt8(ascii: " ")) != nil,
      let hour = digits(2), letter(UInt8(ascii: ":")) != nil, let minute = digits(2),
      letter(UInt8(ascii: ":")) != nil, let second = digits(2), (1...12).contains(month), (1...31).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var milliseconds: Int64 = 0
    if letter(UInt8(ascii: ".")) != nil {
      var scale: Int64 = 100
      let first = start
      while let digit = digits(1) {
        milliseconds += digit * scale
        scale /= 10
      }
      guard start > first else { return nil }
    }
    var offset: Int64 = 0
    if letter(UInt8(ascii: "Z")) == nil {
      guard let sign = letter(UInt8(ascii: "+"), UInt8(ascii: "-")), let hours = digits(2) else { return nil }
      _ = letter(UInt8(ascii: ":"))
      guard let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }
    guard start == bytes.count else { return nil }
    let days = Self.days(ofCivil: year, month, day)
    self.init((days * 86_400 + hour * 3_600 + minute * 60 + second - offset) * 1_000 + milliseconds)
  }
}

extension Int64 {
  fileprivate func padded(_ width: Int) -> String {
    let digits = String(magnitude)
    return (self < 0 ? "-" : "")
      + String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
