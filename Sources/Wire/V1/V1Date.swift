public import Time

/// A date as V1 writes it for people: `2020-11-25 08:31:02 Etc/GMT`, or the same in `America/Los_Angeles`.
public enum V1Date {
  /// The instant; nil for another form, an impossible date, and the local hour that a year has twice.
  public static func read(_ text: String) -> Timestamp? {
    let bytes = text.utf8Span.span
    guard bytes.count > 20, bytes.count <= 40, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[10] == UInt8(ascii: " "), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      bytes[19] == UInt8(ascii: " "),
      let year = number(bytes, 0, 4), let month = number(bytes, 5, 7), let day = number(bytes, 8, 10),
      let hour = number(bytes, 11, 13), let minute = number(bytes, 14, 16), let second = number(bytes, 17, 19),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    let days = Timestamp.days(ofCivil: year, month, day)
    guard Timestamp.civil(daysSinceEpoch: days) == (year, month, day) else { return nil }
    let local = days * 86_400 + hour * 3_600 + minute * 60 + second
    if isZone(bytes, greenwich) { return Timestamp(local * 1_000) }
    guard isZone(bytes, pacific) else { return nil }
    return pacificOffset(local, year).map { Timestamp((local + $0) * 1_000) }
  }

  private static let greenwich = Array("Etc/GMT".utf8)
  private static let pacific = Array("America/Los_Angeles".utf8)

  private static func isZone(_ bytes: Span<UInt8>, _ zone: [UInt8]) -> Bool {
    guard bytes.count == 20 + zone.count else { return false }
    for place in zone.indices where bytes[20 + place] != zone[place] { return false }
    return true
  }

  private static func number(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Int64? {
    var value: Int64 = 0
    for place in start..<end {
      let digit = bytes[place]
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return value
  }

  /// Seconds from local time to UTC, by the rule of 2007: the App Store is younger.
  ///
  /// Nil in the hour that summer time's end repeats: which of the two is meant cannot be known.
  private static func pacificOffset(_ local: Int64, _ year: Int64) -> Int64? {
    let begins = (sunday(2, year, 3) * 24 + 2) * 3_600
    let ends = (sunday(1, year, 11) * 24 + 2) * 3_600
    if local >= ends - 3_600, local < ends { return nil }
    return local >= begins && local < ends ? 7 * 3_600 : 8 * 3_600
  }

  /// The day of the n-th Sunday of a month; 1970-01-01 was a Thursday.
  private static func sunday(_ n: Int64, _ year: Int64, _ month: Int64) -> Int64 {
    let first = Timestamp.days(ofCivil: year, month, 1)
    let weekday = ((first + 4) % 7 + 7) % 7
    return first + (7 - weekday) % 7 + (n - 1) * 7
  }
}
