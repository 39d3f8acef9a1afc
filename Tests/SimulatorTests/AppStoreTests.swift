@testable import Simulator

@Suite struct `The simulated App Store` {
  @Test(arguments: [
    (AppStoreEnvironment.sandbox, 16, "2"), (.production, 15, ""),
  ])
  func `gives out ids of Apple's length`(environment: AppStoreEnvironment, length: Int, prefix: String) {
    var ids = IdentifierSource(environment: environment, seed: 5, life: 99_999_999)
    let given = (0..<200).map { _ in ids.transactionID() }
    #expect(Set(given).count == given.count)
    #expect(given.allSatisfy { $0.utf8.count == length && $0.hasPrefix(prefix) })
    #expect(ids.appTransactionID().utf8.count == 18)
  }

  @Test func `gives no id to two lives`() {
    let given = (0..<500).flatMap { life in
      var ids = IdentifierSource(environment: .sandbox, seed: 5, life: life)
      return (0..<20).map { _ in ids.transactionID() }
    }
    #expect(Set(given).count == given.count)
  }

  @Test func `writes UUIDs of version 4 in lower case`() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<100 {
      let uuid = Array(random.uuid())
      #expect(uuid.count == 36 && uuid[14] == "4" && "89ab".contains(uuid[19]))
      #expect(uuid.allSatisfy { $0 == "-" || "0123456789abcdef".contains($0) })
    }
  }

  @Test(arguments: [
    ("2026-01-31T12:00:00Z", 1_769_860_800_000, Period.months(1), "2026-02-28T12:00:00Z"),
    ("2028-01-31T12:00:00Z", 1_832_932_800_000, .months(1), "2028-02-29T12:00:00Z"),
    ("2026-12-15T00:00:00Z", 1_797_292_800_000, .months(1), "2027-01-15T00:00:00Z"),
    ("2028-02-29T00:00:00Z", 1_835_395_200_000, .years(1), "2029-02-28T00:00:00Z"),
    ("2026-12-28T00:00:00Z", 1_798_416_000_000, .weeks(1), "2027-01-04T00:00:00Z"),
    ("2026-03-01T00:00:00Z", 1_772_323_200_000, .days(3), "2026-03-04T00:00:00Z"),
  ])
  func `knows when a period ends`(from: String, milliseconds: Int64, period: Period, end: String) {
    #expect(Timestamp(milliseconds).iso8601 == from)
    #expect(period.end(after: Timestamp(milliseconds)).iso8601 == end)
  }

  @Test(arguments: [
    (Storefront.unitedStates, 9_990 as Int64), (.germany, 9_990), (.japan, 1_500_000), (.brazil, 50_000),
  ])
  func `sells at prices of the country`(storefront: Storefront, expected: Int64) {
    #expect(storefront.price(9_990) == expected)
  }

  @Test func `numbers the status of a subscription as Apple does`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    try world.act(.buy(product: "plus.monthly"), on: customer)
    try world.act(.setPayment(works: false), on: customer)
    let end = try #require(world.subscriptions(of: customer).first?.transaction.expiresDate)
    func status(at date: Timestamp) -> Int64? {
      world.advance(to: date)
      return world.subscriptions(of: customer).first?.status
    }
    #expect(status(at: end - .seconds(1)) == 1)
    #expect(status(at: end) == 4)
    #expect(status(at: end + .days(17)) == 3)
    let bought = try #require(world.transactions(of: customer).first?.transaction.transactionID)
    var refunded = world
    try refunded.act(.refund(transaction: bought), on: customer)
    #expect(refunded.subscriptions(of: customer).first?.status == 5)
    #expect(status(at: end + .days(61)) == 2)
  }
}
