@testable import Service

@Suite struct `The stock of an app's claims` {
  private static let day: Int64 = 86_400_000
  private static let midnight = Timestamp(20_000 * day)
  /// What a message of no rows counts beside its body.
  private static let head = 2_048

  private static func take(
    _ bytes: Int, rows: Int = 0, of app: String = "a", from stock: DailyByteQuota, at now: Timestamp
  ) -> DailyByteQuota.Taken? {
    stock.take(bytes - head, rows: rows, of: app, at: now)
  }

  @Test func `is each app's own, and whole again every day`() {
    let stock = DailyByteQuota(10_000)
    let evening = Self.midnight + .milliseconds(Self.day - 1)
    #expect(Self.take(6_000, from: stock, at: Self.midnight) != nil)
    #expect(Self.take(6_000, from: stock, at: evening) == nil)
    #expect(Self.take(4_000, from: stock, at: evening) != nil)
    #expect(Self.take(10_000, of: "b", from: stock, at: Self.midnight + .milliseconds(1)) != nil)
    #expect(Self.take(Self.head, of: "b", from: stock, at: Self.midnight + .milliseconds(2)) == nil)
    #expect(Self.take(10_000, from: stock, at: Self.midnight + .milliseconds(Self.day)) != nil)
    // A clock that goes back a day makes no new stock.
    #expect(Self.take(Self.head, from: stock, at: Self.midnight) == nil)
    // One that was ahead for longer was wrong.
    #expect(Self.take(Self.head, from: stock, at: Self.midnight + .milliseconds(30 * Self.day)) != nil)
    #expect(Self.take(10_000, from: stock, at: Self.midnight + .milliseconds(2 * Self.day)) != nil)
  }

  @Test func `counts rows, and has back what was not kept`() throws {
    let stock = DailyByteQuota(10_000)
    let taken = try #require(Self.take(4_880, rows: 10, from: stock, at: Self.midnight))
    #expect(taken.bytes == 10_000)
    #expect(Self.take(Self.head, from: stock, at: Self.midnight) == nil)
    stock.give(back: taken)
    #expect(Self.take(10_000, from: stock, at: Self.midnight) != nil)
  }

  @Test func `is no larger than what is left of the day for a process that starts in it`() {
    let stock = DailyByteQuota(40_000)
    let evening = Self.midnight + .milliseconds(Self.day * 3 / 4)
    #expect(Self.take(10_001, from: stock, at: evening) == nil)
    #expect(Self.take(10_000, from: stock, at: evening) != nil)
    #expect(Self.take(40_000, from: stock, at: evening + .milliseconds(Self.day)) != nil)
  }
}
