/// The worked examples of docs/internals/model.md as pure values, in any order and repeated.
///
/// `ModelTests` of the ledger run the same through a database.
@Suite struct `The model` {
  private func check(_ name: String = #function) throws {
    let name = String(name.prefix { $0 != "(" })
    let example = try #require(try ModelExample.all()[name], "docs/internals/model.md has no example \(name)")
    try check(example)
  }

  private func check(_ example: ModelExample) throws {
    var random = SeededRandom()
    for round in 0..<30 {
      var messages = example.messages
      if round > 0 {
        messages += messages.filter { _ in Bool.random(using: &random) }
        messages.shuffle(using: &random)
      }
      let failures = example.failures(of: ModelExample.kept(of: messages, lookingUp: example.lookups))
      #expect(failures == [], "seed \(random.seed)")
      if !failures.isEmpty { break }
    }
  }

  @Test func lateCancelAfterRefundReversed() throws { try check() }
  @Test func toggledDowngradeABAB() throws { try check() }
  @Test func restoresChangeTransactionIds() throws { try check() }
  @Test func lineIdsAppearingLater() throws { try check() }
  @Test func joinedCustomers() throws { try check() }
  @Test func v1RetryOfWhatV2Said() throws { try check() }
  @Test func refundOfAnOlderPeriodKeepsTheNewer() throws { try check() }
  @Test func upgradeMarksTheEarlier() throws { try check() }
  @Test func unsignedFutureAsOfIsCut() throws { try check() }

  @Test func `is as every example of its page says`() throws {
    let examples = try ModelExample.all()
    #expect(examples.count >= 18)
    for example in examples.values.sorted(by: { $0.name < $1.name }) { try check(example) }
  }
}
