@Suite struct `The guard` {
  private typealias Answers = GuardStatistics.Answers

  @Test(
    arguments: [
      (0, 0, "held (0 of 100 customers)"), (85, 0, "held (85 of 100 customers)"),
      (85, 7, "held (85 of 100 customers, 8 % above 1 %)"), (99, 1, "held (99 of 100 customers, 1.02 % above 1 %)"),
      (3, 3, "held (3 of 100 customers, 100 % above 1 %)"),
    ])
  func `that is held says how many are known, and when they are too many`(customers: Int, affected: Int, text: String) {
    #expect(GuardRule().held(GuardStatistics(customers: customers, affected: affected)) == text)
  }

  @Test func `that is held names a threshold with decimals`() {
    var rule = GuardRule()
    (rule.mostImpact, rule.leastCustomers) = (2_500, 20)
    #expect(rule.held(GuardStatistics(customers: 10, affected: 1)) == "held (10 of 20 customers, 10 % above 0.25 %)")
  }

  @Test(arguments: [
    (99, 99, "held"), (0, 0, "held"), (100, 0, "sound"), (100, 1, "sound"), (100, 2, "breached"),
    (10_000, 100, "sound"), (10_000, 101, "breached"), (100, 5, "breached"),
  ])
  func `decides with enough customers alone`(customers: Int, affected: Int, verdict: String) {
    #expect(GuardRule().verdict(customers: customers, affected: affected).name == verdict)
  }

  /// Of calls of ours and of Apple's, and those without an answer.
  @Test(arguments: [
    (200, 5, 20, 0, true), (200, 4, 20, 0, false), (200, 200, 19, 0, false), (199, 199, 50, 0, false),
    (10_000, 101, 20, 0, true), (10_000, 100, 20, 0, false),
    // Apple is not asked, or fails nearly as often.
    (200, 200, 0, 0, false), (200, 10, 200, 10, false), (200, 10, 400, 19, false), (200, 10, 400, 12, true),
    (200, 200, 20, 20, false),
  ])
  func `counts calls without an answer of ours that Apple answers`(
    calls: Int, errors: Int, appleCalls: Int, appleErrors: Int, isBreached: Bool
  ) {
    let figures = GuardStatistics(
      ours: Answers(calls: calls, errors: errors), apple: Answers(calls: appleCalls, errors: appleErrors))
    let breach = GuardRule().verdict(of: figures).breach
    #expect(breach?.cause == (isBreached ? "errors" : nil))
    #expect(breach.map { GuardBreach.causes.contains($0.cause) } ?? true)
    var rule = GuardRule()
    rule.mostErrors = 0
    #expect(rule.verdict(of: figures) == .held, "it is off, and nobody was compared")
  }

  @Test(
    arguments: [
      (700, 300, true), (1_000, 500, true), (700, 500, false), (500, 10, true), (300, 10, false), (700, nil, false),
    ] as [(Int, Int?, Bool)])
  func `holds our p99 against Apple's`(ours: Int, apple: Int?, isBreached: Bool) {
    func verdict(_ calls: Int, _ appleCalls: Int, _ rule: GuardRule = GuardRule()) -> GuardRule.Status {
      rule.verdict(
        of: GuardStatistics(
          customers: 100, ours: Answers(calls: calls, slowest: ours),
          apple: Answers(calls: appleCalls, slowest: apple)))
    }
    #expect(verdict(200, 200).breach?.cause == (isBreached ? "latency" : nil))
    #expect(verdict(199, 200) == .sound && verdict(200, 199) == .sound, "too few calls")
    var rule = GuardRule()
    rule.mostLatency = 0
    #expect(verdict(200, 200, rule) == .sound)
  }

  @Test func `names the cause with its figures, the impact first`() {
    var figures = GuardStatistics(
      customers: 100, affected: 2, ours: Answers(calls: 400, errors: 40, slowest: 2_000),
      apple: Answers(calls: 300, errors: 1, slowest: 100))
    #expect(GuardRule().verdict(of: figures) == .breached(.impact(affected: 2, customers: 100)))
    figures.affected = 0
    let errors = GuardRule().verdict(of: figures).breach
    #expect(errors?.text == "40 of 400 calls got no answer from Switchyard, 1 of 300 none from Apple")
    #expect(errors?.figures.map(\.value) == [40, 400, 1, 300])
    figures.ours.errors = 0
    let latency = GuardRule().verdict(of: figures).breach
    #expect(latency == .latency(milliseconds: 2_000, appleMilliseconds: 100))
    #expect(latency?.text == "Switchyard's p99 is more than 2000 ms, Apple's at most 100 ms")
    #expect(latency?.next("com.example.app", "Sandbox").first == "switchyard rollout status com.example.app")
  }
}
