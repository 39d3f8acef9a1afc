package import Time

/// The local time of Apple's servers, the third format of every date in V1.
///
/// Daylight-saving time by the rules of the United States since 1987.
package enum PacificTime {
  /// `2020-07-22 10:39:08 America/Los_Angeles`.
  package static func text(_ date: Timestamp) -> String {
    "\(SimulatedV1Date.text(date - .hours(isDaylightSaving(date) ? 7 : 8))) America/Los_Angeles"
  }

  package static func isDaylightSaving(_ date: Timestamp) -> Bool {
    let january = Timestamp.civil(daysSinceEpoch: date.sinceEpoch / 86_400_000).year * 12
    let (march, april, october, november) = (january + 2, january + 3, january + 9, january + 10)
    let (first, last) =
      january >= 2007 * 12
      ? (CivilMonth.sunday(of: march, after: 1), CivilMonth.sunday(of: november))
      : (CivilMonth.sunday(of: april), CivilMonth.lastSunday(of: october))
    // The change is at two o'clock: of standard time when it begins, of daylight-saving time when it ends.
    return Timestamp(first * 86_400_000) + .hours(10) <= date && date < Timestamp(last * 86_400_000) + .hours(9)
  }
}

/// A date as V1 writes it.
enum SimulatedV1Date {
  /// `2020-07-22 17:39:08`, in whole seconds.
  static func text(_ date: Timestamp) -> String {
    Timestamp(date.wholeSeconds * 1_000).iso8601.dropLast().split(separator: "T").joined(separator: " ")
  }

  static func gmt(_ date: Timestamp) -> String { "\(text(date)) Etc/GMT" }
}

extension PayloadMembers {
  /// Adds `name`, `name_ms` and `name_pst`; nothing for `nil`.
  mutating func addLegacy(_ name: String, _ date: Timestamp?) {
    guard let date else { return }
    add(name, SimulatedV1Date.gmt(date))
    add("\(name)_ms", String(date.sinceEpoch))
    add("\(name)_pst", PacificTime.text(date))
  }
}
