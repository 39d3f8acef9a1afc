/// An app that goes from step to step by itself.
@Suite struct `An automatic rollout` {
  private let now = Operated.now
  private let kim = Operated.kim

  /// By what a small app can prove within a test.
  private static var demand: RolloutEvidence.Requirements {
    var demand = RolloutEvidence.Requirements()
    (demand.mostImpact, demand.completeDays) = (0.9, 0)
    return demand
  }

  private func auto(
    until last: RolloutStep = RolloutStep(.live), staying stay: Interval = .seconds(0)
  ) -> AutomateRollout {
    AutomateRollout(Operated.bundleID, in: .sandbox, until: last, staying: stay, asking: Self.demand)
  }

  /// An app with everything but customers who were compared.
  private func prepared() async throws -> Operated {
    let here = try await Operated()
    for kind in [CredentialTable.Kind.apiKey, .sharedSecret] {
      try await here.execute(
        """
        INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
        VALUES (\(here.app.id.number), \(kind.rawValue), 'a', '', 'x', 1)
        """)
    }
    try await here.execute("UPDATE flags SET changed_at = \(now - .hours(1))")
    let guarded = SetGuard(of: Operated.bundleID, in: .sandbox) { $0.leastCustomers = 2 }
    try await guarded.apply(guarded.plan(on: here.connection), by: kim, at: now, on: here.connection)
    return here
  }

  private func compare(_ customers: ClosedRange<UInt8>, counts: Bool = false, _ here: Operated, at date: Timestamp)
    async throws
  {
    try await here.connection.transaction { session throws(DatabaseError) in
      for customer in customers {
        let name = [UInt8](repeating: customer, count: 16)
        _ = try ComparisonTable.add(
          .init(cause: counts ? "unknown" : "equal", counts: counts, differences: [], impact: nil),
          of: .init(
            scope: AppScope(app: here.app.id, environment: .sandbox), window: date, customer: name, receipt: name),
          epoch: 1, at: date, settlingAt: nil, in: session)
      }
    }
  }

  /// Takes what is proven; the stages, and why it went no further.
  private func run(_ auto: AutomateRollout, _ here: Operated, at date: Timestamp) async throws -> [String] {
    var turns: [String] = []
    while turns.count < 20 {
      switch try await auto.plan(at: date, on: here.connection) {
      case .advance(let plan):
        _ = try await auto.apply(plan, by: kim, at: date, on: here.connection)
        turns.append(plan.step.map { StageTransition.name($0.stage, $0.share) } ?? "")
      case .wait(let plan): return turns + plan.missing.map(\.name)
      case .reached: return turns + ["reached"]
      }
    }
    return turns
  }

  @Test func `takes each step when it is proven, and waits for what comes by itself`() async throws {
    let here = try await prepared()
    let auto = auto()
    #expect(try await run(auto, here, at: now) == ["shadow", "comparisons"])
    try await compare(1...3, here, at: now)
    // What was compared before a percentage was set is nothing seen at it.
    #expect(try await run(auto, here, at: now + .minutes(1)) == ["ramp 1 %", "guard"])
    try await compare(4...6, here, at: now + .minutes(2))
    #expect(try await run(auto, here, at: now + .minutes(3)) == ["ramp 5 %", "guard"])
    let bounded = self.auto(until: RolloutStep(.ramp, RampPercentage(hundredths: 500)))
    #expect(try await run(bounded, here, at: now + .minutes(3)) == ["reached"])
    let between = self.auto(until: RolloutStep(.ramp, RampPercentage(hundredths: 1_000)))
    try await compare(4...6, here, at: now + .minutes(4))
    #expect(try await run(between, here, at: now + .minutes(5)) == ["ramp 10 %", "reached"])
    for (number, stage) in ["ramp 25 %", "ramp 50 %", "ramp 100 %"].enumerated() {
      let date = now + .minutes(Int64(10 * number + 10))
      try await compare(4...6, here, at: date)
      #expect(try await run(auto, here, at: date + .minutes(1)) == [stage, "guard"])
    }
    try await compare(4...6, here, at: now + .minutes(50))
    #expect(try await run(auto, here, at: now + .minutes(51)) == ["live", "reached"])
  }

  @Test func `stops where somebody has to look, and does not take up again what was taken back`() async throws {
    let here = try await prepared()
    let auto = auto()
    try await compare(1...3, here, at: now)
    #expect(try await run(auto, here, at: now + .minutes(1)) == ["shadow", "ramp 1 %", "guard"])
    // Too long.
    let stopped = await #expect(throws: AutomationStopped.self) {
      _ = try await run(auto, here, at: now + .days(13) + .days(2))
    }
    #expect(stopped?.exitStatus == .refused)
    try await compare(4...9, counts: true, here, at: now + .minutes(2))
    let breached = await #expect(throws: AutomationStopped.self) {
      _ = try await run(auto, here, at: now + .minutes(3))
    }
    #expect(breached?.next.contains("--impact") == true, "\(breached?.next ?? "")")
    try await RollBackToShadow(of: Operated.bundleID).apply(by: kim, at: now + .minutes(4), on: here.connection)
    try await here.execute("DELETE FROM comparisons WHERE counts = 1")
    let taken = await #expect(throws: AutomationStopped.self) { _ = try await run(auto, here, at: now + .minutes(5)) }
    #expect(taken?.description.contains("rollout.kill by kim") == true, "\(taken?.description ?? "")")
    // By hand, somebody said that it may go on.
    let hand = AdvanceRollout(Operated.bundleID, in: .sandbox, asking: Self.demand)
    let plan = try await hand.plan(at: now + .minutes(6), on: here.connection)
    _ = try await hand.apply(plan, forced: false, by: kim, at: now + .minutes(6), on: here.connection)
    #expect(try await run(auto, here, at: now + .minutes(7)) == ["guard"])
    // Back by hand is as good as a kill.
    let back = SetStage(.shadow, of: Operated.bundleID, in: .sandbox)
    try await back.apply(back.plan(at: now, on: here.connection), by: kim, at: now + .minutes(8), on: here.connection)
    await #expect(throws: AutomationStopped.self) { _ = try await run(auto, here, at: now + .minutes(9)) }
  }

  @Test func `stays at each step for as long as it was told`() async throws {
    let here = try await prepared()
    let auto = auto(staying: .hours(24))
    try await compare(1...3, here, at: now)
    #expect(try await run(auto, here, at: now + .minutes(1)) == ["shadow", "ramp 1 %", "guard"])
    try await compare(4...6, here, at: now + .minutes(2))
    // Nothing is missing any more but time.
    #expect(try await run(auto, here, at: now + .hours(23)) == [])
    #expect(try await run(auto, here, at: now + .hours(25)) == ["ramp 5 %", "guard"])
  }

  @Test func `is planned with the smallest app first, and says how long evidence takes`() async throws {
    let here = try await prepared()
    try await here.connection.transaction { [now] session throws(DatabaseError) in
      _ = try AppTable.add(bundleID: "com.example.none", appAppleID: nil, at: now, in: session)
    }
    try await here.execute("UPDATE flags SET stage = 'shadow'")
    try await here.execute(
      """
      INSERT INTO purchases (app, environment, original_transaction_id, line, source, product_id, as_of, facts, message,
        precedence) VALUES (\(here.app.id.number), 2, '1', '1', 50, 'a', 1, '{}', '', '')
      """)
    try await compare(1...3, here, at: now - .hours(1))
    var demand = RolloutEvidence.Requirements()
    (demand.mostImpact, demand.completeDays) = (0.1, 0)
    let plans = try await RolloutPlan.all(asking: demand, by: .fixed(at: now), on: here.connection)
    #expect(plans.map(\.ids) == [0, 0, 0, 1])
    let last = try #require(plans.last)
    #expect(last.next.missing.map(\.name) == ["comparisons"] && last.comparedADay == 3, "\(last.next.missing)")
    // 29 customers without an impact bound the rate by 10 %: 26 more of 3 a day.
    #expect(demand.customers == 29 && last.wait == .days(9))
    #expect(plans.first?.wait == nil)
  }
}
