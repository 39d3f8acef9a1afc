package import Time

/// The dates of HTTP headers (RFC 9110, 5.6.7): the preferred form and the two obsolete ones that must be understood.
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The instant, to the second; nil for anything else.
  package static func instant(_ text: String) -> Timestamp? {
    guard text.utf8.count <= 40 else { return nil }
    let words = text.split { " ,-:".contains($0) }.map(String.init)
    // Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT · Sun Nov  6 08:49:37 1994
    guard words.count == 8 && words[7] == "GMT" || words.count == 7 else { return nil }
    let order = words.count == 8 ? [3, 2, 1, 4, 5, 6] : [6, 1, 2, 3, 4, 5]
    guard let month = months.firstIndex(of: words[order[1]]), let written = Int64(words[order[0]]),
      let day = Int64(words[order[2]]), let hour = Int64(words[order[3]]), let minute = Int64(words[order[4]]),
      let second = Int64(words[order[5]]), (1...31).contains(day), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second), (0...9_999).contains(written)
    else { return nil }
    // Two digits are of this century until 2069, as POSIX reads them.
    let year = words[order[0]].count > 2 ? written : written < 70 ? 2_000 + written : 1_900 + written
    let days = daysSinceEpoch(year: year, month: Int64(month) + 1, day: day)
    return Timestamp((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000)
  }

  /// Howard Hinnant's civil-date arithmetic, for years from 0.
  private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
