@Suite("Our answer over HTTP, beside the simulator's") struct AnsweredYearTests {
  @Test func `is the same in every field that can be told, for customers in every state`() async throws {
    let count = TestSize.simulatedCustomers
    let backEnds = [try #require(Network("127.0.0.0/8"))]
    let start = ContinuousClock.now
    var comparison = SimulatedComparison()
    var sources: [String: Int] = [:]
    // Why it was not the ledger that answered.
    let unfresh = Mutex<[String: Int]>([:])
    var (notifications, nameless) = (0, 0)
    for (environment, seed) in [(AppStoreEnvironment.sandbox, UInt64(7)), (.production, 11)] {
      let world = SimulatedCases.world(customers: count / 2, in: environment, seed: seed)
      let passed = Mutex<(AnsweredYear, SimulatedComparison)?>(nil)
      try await AnsweringService.with(
        world, stage: "live", in: environment, clockRuns: false, readings: ["Y-016"],
        {
          $0.answersKept = .milliseconds(0)
          // What strangers may ask in a second depends on how fast this machine asks.
          $0.callers.backEnds = backEnds
          // However busy the machine is: an answer without the look-up is another test's.
          $0.answering.lookUpWithin = .minutes(1)
        }
      ) { [comparison] service in
        var comparison = comparison
        var year = try AnsweredYear(service, of: world, in: environment)
        try await year.pass(into: &comparison)
        passed.withLock { [year, comparison] in $0 = (year, comparison) }
        for (text, count) in Self.warnings(service.log.records) { print("logged \(count) times: \(text)") }
        for record in service.log.records where record.message == "verifyReceipt was answered" {
          let values = record.metadata.mapValues { "\($0)" }
          guard let name = values["answeredBy"], !name.contains("ledger") else { continue }
          let (status, reasons) = (values["status"] ?? "-", values["notFresh"] ?? "-")
          unfresh.withLock { $0["\(name) \(status): \(reasons)", default: 0] += 1 }
        }
      }
      let lived = passed.withLock { $0 }
      let (year, compared) = try #require(lived)
      comparison = compared
      sources.merge(year.sources) { $0 + $1 }
      (notifications, nameless) = (notifications + year.notifications, nameless + year.nameless)
      for wrong in year.wrong.prefix(20) { print("wrong in \(environment): \(wrong)") }
      for line in year.different.prefix(20) { print("differs: \(line)") }
      #expect(year.wrong.isEmpty, "an answer came from elsewhere than it had to")
    }
    for difference in comparison.different { print("different: \(difference)") }
    #expect(comparison.differences == 0, "\(comparison.differing)")
    let missing = SimulatedCase.Situation.allCases.filter { comparison.situations[$0] == nil }
    #expect(missing == [], "no customer was ever in these situations")
    let (ledger, lookUps) = (sources["ledger", default: 0], sources["lookup", default: 0])
    #expect(comparison.cases > count * 2 && ledger > count * 2 && lookUps > count && notifications * 4 > count)
    #expect(comparison.unavailable > 0 && comparison.echoed > count && nameless < count)
    print(
      "HTTP: \(count) customers, \(comparison.cases) answers compared, \(comparison.equal.values.reduce(0, +)) fields equal, "
        + "\(comparison.unavailable) unavailable, \(comparison.echoed) echoed, \(notifications) notifications, "
        + "\(nameless) receipts without purchases, \(ContinuousClock.now - start)")
    print("answered by \(sources.sorted { $0.key < $1.key })")
    print("not by the ledger: \(unfresh.withLock { $0 }.sorted { $0.key < $1.key })")
    print("differing: \(comparison.differing)")
    #expect(sources["receipt", default: 0] * 50 <= count)
    print(comparison.situations.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" })
  }

  /// What the service warned of, and how often: why an answer came from elsewhere.
  private static func warnings(_ records: [LogRecord]) -> [(key: String, value: Int)] {
    let texts = records.filter { $0.level >= .warning }.map { record in
      ([record.message] + record.metadata.map { "\($0.key) \($0.value)" }.sorted()).joined(separator: ", ")
    }
    return Array(Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.value > $1.value }.prefix(10))
  }
}
