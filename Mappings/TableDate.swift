import Time

/// A day in a table: `2021-01-01`, midnight UTC.
enum TableDate {
  /// Nil for anything else, and for a day that does not exist.
  static func read(_ text: String) -> Timestamp? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard text.utf8.count == 10, parts.count == 3, let year = Int64(parts[0]), let month = Int64(parts[1]),
      let day = Int64(parts[2]), (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    // Days of the years before, then of the months before; searched for, because tables are read once.
    let estimate = (year - 1970) * 365 + (year - 1969) / 4 + (month - 1) * 30 + day
    return ((estimate - 40)...(estimate + 40)).first {
      Timestamp.civil(daysSinceEpoch: $0) == (year, month, day)
    }.map { Timestamp($0 * 86_400_000) }
  }
}
