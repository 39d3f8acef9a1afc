@testable import Reconciliation

@Suite struct OverdueCustomersTests {
  private func customers(_ news: [Int64], atMost limit: Int) -> OverdueCustomers {
    var quiet = OverdueCustomers(atMost: limit)
    for (number, date) in news.enumerated() {
      quiet.add("customer \(number)", askedBy: "\(number)", lastNews: Timestamp(date))
    }
    return quiet
  }

  @Test func `chooses those of whom there was no news for longest, and counts all`() {
    let quiet = customers([50, 10, 40, 20, 30], atMost: 2)
    #expect(quiet.chosen == ["1", "3"])
    #expect(quiet.count == 5)
  }

  @Test func `asks about a customer once, by the first id, with the latest news of all`() {
    var quiet = OverdueCustomers(atMost: 1)
    quiet.add("a", askedBy: "1", lastNews: Timestamp(10))
    quiet.add("b", askedBy: "2", lastNews: Timestamp(20))
    quiet.add("a", askedBy: "3", lastNews: Timestamp(30))
    #expect(quiet.chosen == ["2"])
    #expect(quiet.count == 2)
  }

  @Test func `keeps a bounded number of them, whoever comes first`() {
    let quiet = customers((0..<5_000).map { 5_000 - $0 }, atMost: 10)
    #expect(quiet.chosen == (4_990..<5_000).reversed().map { "\($0)" })
    #expect(quiet.count == 5_000)
  }

  @Test func `reaches everybody in as many rounds as it takes`() {
    var news = [Int64](repeating: 0, count: 25)
    for round in 1...3 {
      for id in customers(news, atMost: 10).chosen.compactMap({ Int($0) }) { news[id] = Int64(round) }
    }
    #expect(!news.contains(0))
  }
}
