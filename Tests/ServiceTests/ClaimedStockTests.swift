import Testing
import Time

@testable import Service

@Suite struct `The stock of an app's claims` {
  private static let day: Int64 = 86_400_000
  private static let midnight = Milliseconds(20_000 * day)

  @Test func `is each app's own, and whole again every day`() {
    let stock = ClaimedStock(1_000)
    #expect(stock.take(600, of: "a", at: Self.midnight))
    #expect(!stock.take(600, of: "a", at: Self.midnight + .milliseconds(Self.day - 1)))
    #expect(stock.take(400, of: "a", at: Self.midnight + .milliseconds(Self.day - 1)))
    #expect(stock.take(1_000, of: "b", at: Self.midnight + .milliseconds(1)))
    #expect(!stock.take(1, of: "b", at: Self.midnight + .milliseconds(2)))
    #expect(stock.take(1_000, of: "a", at: Self.midnight + .milliseconds(Self.day)))
    // A clock that goes back a day makes no new stock.
    #expect(!stock.take(1, of: "a", at: Self.midnight))
  }

  @Test func `is no larger than what is left of the day for a process that starts in it`() {
    let stock = ClaimedStock(1_000)
    let evening = Self.midnight + .milliseconds(Self.day * 3 / 4)
    #expect(!stock.take(251, of: "a", at: evening))
    #expect(stock.take(250, of: "a", at: evening))
    #expect(stock.take(1_000, of: "a", at: evening + .milliseconds(Self.day)))
  }
}
