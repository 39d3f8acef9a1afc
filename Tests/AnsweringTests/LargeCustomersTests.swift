@testable import Answering

@Suite struct `Customers who are too large to be compared` {
  private static let now = Timestamp(1_800_000_000_000)
  private let large = OversizedCustomerCache()

  @Test func `are known for an hour, in their environment, by any receipt with the same smallest id`() {
    let (sandbox, production) = (
      AppScope(app: App.ID(1), environment: .sandbox), AppScope(app: App.ID(1), environment: .production)
    )
    large.insert(["30", "20"], in: sandbox, at: Self.now)
    large.insert([], in: sandbox, at: Self.now)
    #expect(large.contains(["20", "40"], in: sandbox, at: Self.now + .minutes(59)))
    #expect(!large.contains(["30"], in: sandbox, at: Self.now))
    #expect(!large.contains([], in: sandbox, at: Self.now))
    #expect(!large.contains(["20"], in: production, at: Self.now))
    #expect(!large.contains(["20"], in: sandbox, at: Self.now + .hours(1)))
  }

  @Test func `are a bounded number`() {
    let scope = AppScope(app: App.ID(1), environment: .sandbox)
    for id in 0...1_024 { large.insert(["\(id)"], in: scope, at: Self.now) }
    #expect(!large.contains(["0"], in: scope, at: Self.now) && large.contains(["1024"], in: scope, at: Self.now))
  }
}
