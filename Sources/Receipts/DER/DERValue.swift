import Time

/// Values out of single elements; nil for what is none.
enum DERValue {
  /// A whole number of at most 64 bits, two's complement, in any length that BER allows.
  static func integer(in bytes: Span<UInt8>, _ content: Range<Int>) -> Int64? {
    guard !content.isEmpty else { return nil }
    var value: Int64 = bytes[content.lowerBound] & 0x80 == 0 ? 0 : -1
    for index in content {
      guard value >= Int64.min >> 8, value <= Int64.max >> 8 else { return nil }
      value = value << 8 | Int64(bytes[index])
    }
    return value
  }

  /// Text of any of the string types that receipts use, nil unless it is UTF-8.
  static func text(in bytes: Span<UInt8>, _ content: Range<Int>) -> String? {
    guard let text = try? UTF8Span(validating: bytes.extracting(content)) else { return nil }
    return String(copying: text)
  }

  /// An RFC 3339 date as receipts write it; Xcode's zones have no colon, and years reach 4001.
  static func date(in bytes: Span<UInt8>, _ content: Range<Int>) -> Milliseconds? {
    guard content.count >= 20 else { return nil }
    var start = content.lowerBound
    func digits(_ count: Int) -> Int64? {
      guard start + count <= content.upperBound else { return nil }
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
      guard start < content.upperBound, letters.contains(bytes[start]) else { return nil }
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
    guard start == content.upperBound else { return nil }
    let days = daysSinceEpoch(year: year, month: month, day: day)
    return Milliseconds((days * 86_400 + hour * 3_600 + minute * 60 + second - offset) * 1_000 + milliseconds)
  }

  /// The inverse of `Milliseconds.civil` (Howard Hinnant's civil-date arithmetic).
  private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
