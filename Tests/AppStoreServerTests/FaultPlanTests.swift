/// Expects these faults of a call.
private func expect(_ struck: [Fault], _ expected: [Fault], sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(struck == expected, sourceLocation: sourceLocation)
}

@Suite struct `A plan of faults` {
  private let now = Timestamp(1_767_225_600_000)
  private let call = FaultPlan.Call(.api, operation: "getTransactionHistory", bundleID: "com.example.app")

  private func plan(_ rules: FaultRule..., seed: UInt64 = 1) -> FaultPlan {
    var plan = FaultPlan(seed: seed)
    for rule in rules { _ = plan.add(rule) }
    return plan
  }

  @Test func `strikes as often as it is told, after sparing some`() {
    var rule = FaultRule(Fault(.serverError), on: .api, times: 2)
    rule.skip = 1
    var plan = plan(rule)
    let struck = (0..<5).map { _ in plan.strike(call, at: now).count }
    #expect(struck == [0, 1, 1, 0, 0])
  }

  @Test func `strikes what it names alone`() {
    var rule = FaultRule(Fault(.reset), on: .api, times: nil)
    rule.operation = "getTransactionHistory"
    rule.bundleID = "com.example.app"
    var plan = plan(rule)
    expect(plan.strike(call, at: now), [Fault(.reset)])
    for change: (inout FaultPlan.Call) -> Void in [
      { $0.surface = .verifyReceipt }, { $0.operation = "getTransactionInfo" }, { $0.bundleID = "com.example.other" },
    ] {
      var other = call
      change(&other)
      expect(plan.strike(other, at: now), [])
    }
  }

  @Test func `strikes the same calls for the same seed`() {
    var rule = FaultRule(Fault(.serverError), on: .api, times: nil)
    rule.percent = 30
    func struck(_ seed: UInt64) -> [Int] {
      var plan = plan(rule, seed: seed)
      return (0..<200).filter { _ in !plan.strike(call, at: now).isEmpty }
    }
    #expect(struck(1) == struck(1))
    #expect(struck(1) != struck(2))
    #expect((30...90).contains(struck(1).count))
  }

  @Test func `lets an hour's calls pass and names the end of the hour`() {
    var plan = plan(FaultRule(Fault(.hourlyLimit, 2), on: .api, times: nil))
    let later = now + .minutes(20)
    expect(plan.strike(call, at: later), [])
    expect(plan.strike(call, at: later), [])
    expect(plan.strike(call, at: later), [Fault(.rateLimited, 40 * 60_000)])
    expect(plan.strike(call, at: now + .minutes(60)), [])
  }

  @Test func `lets a second's calls pass and names the end of the second`() throws {
    let rule = try FaultRule(["fault": "secondLimit", "on": "api", "value": 2])
    #expect(rule.times == nil, "a limit holds until it is taken away")
    var plan = plan(rule)
    let later = now + .milliseconds(400)
    expect(plan.strike(call, at: later), [])
    expect(plan.strike(call, at: later), [])
    expect(plan.strike(call, at: later), [Fault(.rateLimited, 1_000 - (later.sinceEpoch % 1_000))])
    expect(plan.strike(call, at: later + .seconds(1)), [])
  }

  @Test func `reads rules and writes them`() throws {
    let text =
      #"{"fault":"rateLimited","on":"api","value":5000,"operation":"getTransactionHistory","skip":3,"times":7,"percent":50}"#
    let object = try #require(try JSONReader.read(Array(text.utf8)).object)
    let rule = try FaultRule(object)
    #expect(try FaultRule(rule.json) == rule)
    #expect(rule.fault == Fault(.rateLimited, 5_000))
    #expect(rule.times == 7 && rule.skip == 3 && rule.percent == 50)
    #expect(try FaultRule(["fault": "reset", "on": "api", "times": .null]).times == nil)
    #expect(try FaultRule(["fault": "revoked"]).surface == .ocsp)
  }

  @Test(arguments: [
    #"{}"#, #"{"fault":"flood","on":"api"}"#, #"{"fault":"reset"}"#, #"{"fault":"revoked","on":"api"}"#,
    #"{"fault":"serverError","on":"api","value":200}"#, #"{"fault":"reset","on":"api","percent":101}"#,
    #"{"fault":"reset","on":"api","when":"now"}"#, #"{"fault":"reset","on":"api","times":0}"#,
  ])
  func `refuses rules that say nothing`(text: String) throws {
    let object = try #require(try JSONReader.read(Array(text.utf8)).object)
    #expect(throws: FaultRule.Mistake.self) { try FaultRule(object) }
  }

  @Test(arguments: Fault.Kind.allCases)
  func `has a surface and a usable value for each kind`(kind: Fault.Kind) {
    #expect(!kind.description.surfaces.isEmpty)
    #expect(kind.description.value == nil || kind.range.contains(kind.description.standard))
  }

  @Test func `takes a bounded number of rules`() {
    var plan = FaultPlan(seed: 1)
    let numbers = (0...FaultPlan.limit).map { _ in plan.add(FaultRule(Fault(.reset), on: .api)) }
    #expect(numbers == (1...FaultPlan.limit).map { $0 } + [nil])
    let removed = (plan.remove(1), plan.remove(1))
    #expect(removed == (true, false))
  }
}
