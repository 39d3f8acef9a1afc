import Support
import Testing
import Time

@Suite struct `An instant` {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (-1_000, "1969-12-31T23:59:59Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
      (951_868_799_999, "2000-02-29T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
      (1_697_679_936_050, "2023-10-19T01:45:36.050Z"), (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
      (-62_135_769_600_000, "0000-12-30T00:00:00Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (253_402_300_800_000, "10000-01-01T00:00:00Z"), (.max, "292278994-08-17T07:12:55.807Z"),
      (.min, "-292275055-05-16T16:47:04.192Z"),
    ] as [(Int64, String)])
  func `is written as ISO 8601, whatever its 64 bits`(sinceEpoch: Int64, text: String) {
    #expect(Timestamp(sinceEpoch).iso8601 == text)
  }

  @Test func `counts the days of four centuries as a naive calendar does`() {
    func daysIn(_ year: Int64, _ month: Int64) -> Int64 {
      let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
      return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Int(month - 1)]
    }
    var expected: (year: Int64, month: Int64, day: Int64) = (1970, 1, 1)
    var differences = 0
    for days in 0..<Int64(146_097) {
      if Timestamp.civil(daysSinceEpoch: days) != expected { differences += 1 }
      expected.day += 1
      if expected.day > daysIn(expected.year, expected.month) {
        (expected.day, expected.month) = (1, expected.month + 1)
      }
      if expected.month > 12 { (expected.month, expected.year) = (1, expected.year + 1) }
    }
    #expect(differences == 0)
  }

  @Test(
    arguments: [
      (5, 7, 12), (.max, 1, .max), (.max, -1, .max - 1), (.min, -1, .min), (.min, .min, .min), (0, .max, .max),
    ] as [(Int64, Int64, Int64)])
  func `saturates instead of stopping the process`(instant: Int64, interval: Int64, sum: Int64) {
    #expect(Timestamp(instant) + .milliseconds(interval) == Timestamp(sum))
  }

  @Test(
    arguments: [
      (12, 7, 5), (.max, -1, .max), (.min, 1, .min), (.min, .max, .min), (.max, .min, .max), (0, .min, .max),
    ] as [(Int64, Int64, Int64)])
  func `saturates downwards too`(instant: Int64, other: Int64, difference: Int64) {
    #expect(Timestamp(instant) - .milliseconds(other) == Timestamp(difference))
    #expect(Timestamp(instant) - Timestamp(other) == .milliseconds(difference))
  }

  @Test(arguments: [(0, 0), (999, 0), (1_000, 1), (-1, -1), (-1_000, -1), (-1_001, -2)] as [(Int64, Int64)])
  func `has the second that a receipt would tell`(sinceEpoch: Int64, second: Int64) {
    #expect(Timestamp(sinceEpoch).wholeSeconds == second)
  }
}

@Suite struct `An interval` {
  @Test(
    arguments: [
      (Interval.seconds(2), 2_000), (.minutes(2), 120_000), (.hours(2), 7_200_000), (.days(2), 172_800_000),
      (.days(.max), .max), (.days(.min), .min), (.milliseconds(-3), -3),
    ] as [(Interval, Int64)])
  func `is counted in milliseconds`(interval: Interval, milliseconds: Int64) {
    #expect(interval.milliseconds == milliseconds)
  }
}

@Suite struct `A clock` {
  @Test func `stands still, or moves when told to`() {
    #expect(WallClock.fixed(at: Timestamp(7)).now() == Timestamp(7))
    let stepped = SteppedClock(at: Timestamp(10))
    let clock = stepped.clock
    stepped.advance(by: .seconds(1))
    #expect(clock.now() == Timestamp(1_010))
  }
}
