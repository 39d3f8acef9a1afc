@Suite struct `The count of a reading` {
  @Test(
    arguments: [(0, 0, .unproven), (1, 0, .tooFew), (19, 0, .tooFew), (20, 0, .choose), (500, 1, .unproven)]
      as [(Int, Int, RuleOptionTally.Advice)])
  func `advises it for enough customers and none that contradicts`(
    customers: Int, contradicted: Int, advice: RuleOptionTally.Advice
  ) {
    var count = RuleOptionTally.Count()
    for customer in 0..<customers { count.agree(with: "\(customer)") }
    for _ in 0..<contradicted { count.contradict() }
    #expect(count.advice == advice && count.agreed == customers)
  }

  @Test func `takes many answers of one customer for one`() {
    var count = RuleOptionTally.Count()
    for _ in 0..<100 { count.agree(with: "1000000000000001") }
    #expect(count.agreed == 100 && count.customers == 1 && count.advice == .tooFew)
  }
}
