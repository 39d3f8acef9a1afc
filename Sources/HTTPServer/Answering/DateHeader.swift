import Time

/// The HTTP format of a date: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
enum DateHeader {
  static func text(of moment: Timestamp) -> String {
    let seconds = moment.sinceEpoch / 1_000
    let (days, second) = (seconds / 86_400, seconds % 86_400)
    let (year, month, day) = Timestamp.civil(daysSinceEpoch: days)
    // The epoch's first day was a Thursday.
    return "\(weekdays[Int((days + 4) % 7)]), \(two(day)) \(months[Int(month) - 1]) \(year) "
      + "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
