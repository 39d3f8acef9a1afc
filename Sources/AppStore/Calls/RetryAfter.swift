package import Time

/// The Retry-After header, as Apple sends it (milliseconds since 1970) and as HTTP defines it (seconds, or a date).
package enum RetryAfter {
  /// A server that names a later time is not believed: its limits are counted over an hour.
  private static let longest = Interval.hours(24)
  /// A smaller number is no instant: as seconds since 1970 it would be 2001, as a wait 31 years.
  private static let firstInstant: Int64 = 1_000_000_000

  /// When to ask again, never before `now` and never more than a day after it; nil when the header cannot be read.
  package static func instant(_ header: String, now: Timestamp) -> Timestamp? {
    let text = header.drop { $0 == " " }
    let instant: Timestamp
    if let number = Int64(text), number >= 0 {
      if number >= firstInstant * 100 {
        instant = Timestamp(number)
      } else if number >= firstInstant {
        instant = Timestamp(number * 1_000)
      } else {
        instant = now + .seconds(number)
      }
    } else if let date = HTTPDate.instant(String(text)) {
      instant = date
    } else {
      return nil
    }
    return min(max(instant, now), now + longest)
  }
}
