/// Our answers composed beside Apple's, over HTTP.
@Suite struct `The shadow` {
  private static let patience = Interval.seconds(120)

  private static func metric(_ name: String, _ service: AnsweringService) async throws -> Int {
    let line = try await service.metrics().split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { $0.split(separator: " ").last.flatMap { Int($0) } } ?? 0
  }

  private static func comparisons(_ cause: String) -> String {
    "switchyard_comparisons_total{app=\"\(AnsweringService.app)\",environment=\"Sandbox\",cause=\"\(cause)\"}"
  }

  private static let impact =
    "switchyard_comparison_impact_total{app=\"\(AnsweringService.app)\",environment=\"Sandbox\"}"

  private static func calls(_ outcome: String) -> String { "switchyard_shadow_calls_total{outcome=\"\(outcome)\"}" }

  /// Has every customer asked about, and waits until Apple's history of each was heard.
  private static func learn(_ customers: [CustomerID], _ service: AnsweringService) async throws {
    for customer in customers {
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: customer)))
      #expect(answer.source == "apple")
    }
    let isKnown = try await eventually(within: patience) {
      let (open, known) = (try await service.rowCount("work WHERE state = 0"), try await service.rowCount("histories"))
      return open == 0 && known > 0
    }
    #expect(isKnown)
  }

  @Test func `finds no difference where everything is known, and leaves Apple's answer as it is`() async throws {
    let world = AnsweredWorld.world(customers: 30)
    let buyers = AnsweredWorld.buyers(world)
    try await AnsweringService.with(world, stage: "shadow", { $0.shadow.window = .seconds(1) }) { service in
      try await Self.learn(buyers, service)
      let before = try await service.rowCount("comparisons WHERE cause = 'equal'")
      try await service.advance(.seconds(20))
      for customer in buyers {
        let request = AnsweringService.request(try service.receipt(of: customer))
        let answer = try await service.ask(request)
        #expect(answer.source == "apple")
        #expect(AnsweredWorld.differences(answer.body, try await service.apple(request)) == [])
      }
      let areCompared = try await eventually(within: Self.patience) {
        try await service.rowCount("comparisons WHERE cause = 'equal'") >= before + buyers.count
      }
      let seen = try await service.metrics().split(separator: "\n").filter {
        $0.contains("shadow") || $0.contains("compar")
      }
      #expect(areCompared, "\(seen)")
      #expect(try await Self.metric(Self.comparisons("equal"), service) >= buyers.count)
      #expect(try await Self.metric(Self.impact, service) == 0)
      // Whoever was not known when they first asked is no evidence against us.
      #expect(try await service.rowCount("comparisons WHERE counts = 1") == 0)
    }
  }

  @Test func `does not learn from the answer that it is compared with`() async throws {
    let world = AnsweredWorld.world(customers: 30)
    let buyers = AnsweredWorld.buyers(world).filter { !world.state(of: $0).subscriptions.isEmpty }
    try await AnsweringService.with(world, stage: "shadow", isAsking: false) { service in
      for customer in buyers { _ = try await service.ask(AnsweringService.request(try service.receipt(of: customer))) }
      let areCompared = try await eventually(within: Self.patience) {
        try await service.rowCount("comparisons") == buyers.count
      }
      let calls = try await service.metrics().split(separator: "\n").filter { $0.contains("shadow_calls") }
      #expect(areCompared, "\(calls)")
      // Nothing signed is known: what Apple's answers told, and were recorded for, made no answer of ours.
      #expect(try await service.rowCount("purchases WHERE source = 20 OR source = 40") >= 0)
      #expect(try await service.rowCount("comparisons WHERE cause = 'equal'") < buyers.count)
      #expect(try await service.rowCount("comparisons WHERE cause NOT IN ('equal', 'incomplete', 'legacyQuirk')") == 0)
      #expect(try await service.rowCount("comparisons WHERE counts = 1") == 0)
    }
  }

  @Test func `gives no voice to what nobody proved, and one to what comes again and again`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "shadow") { service in
      let receipt = try service.receipt(of: buyer)
      let forged = String(
        decoding: try world.state(of: buyer).receipt.encoded(signedBy: ReceiptPKI.stranger(at: world.now)),
        as: UTF8.self)
      for _ in 0..<5 {
        _ = try await service.ask(AnsweringService.request(receipt))
        _ = try await service.ask(AnsweringService.request(forged))
        _ = try await service.ask(["receipt-data": "AAAA"])
      }
      let areSeen = try await eventually(within: Self.patience) {
        var count = 0
        for outcome in ShadowOutcome.allCases { count += try await Self.metric(Self.calls(outcome.rawValue), service) }
        return count == 5
      }
      #expect(areSeen)
      // What Apple cannot read is not looked at.
      #expect(try await Self.metric(Self.calls("unproven"), service) == 0)
      #expect(try await service.rowCount("comparisons") == 1)
      #expect(
        try await service.rowCount(
          "comparison_bodies b LEFT JOIN comparisons c ON c.id = b.comparison WHERE c.id IS NULL") == 0)
      let kept = String(
        decoding: try await service.pool.read { session throws(DatabaseError) in
          try session.query("SELECT sealed FROM comparison_bodies").first?.bytes("sealed") ?? []
        }, as: UTF8.self)
      #expect(!kept.contains("receipt") && !kept.contains(AnsweringService.secret))
    }
  }

  @Test func `names a fault of ours, and whom it would have cost access`() async throws {
    let world = AnsweredWorld.world(customers: 30)
    let buyers = AnsweredWorld.buyers(world)
    try await AnsweringService.with(
      world, stage: "shadow",
      {
        $0.composers = .expiringAtPurchase
        $0.shadow.window = .seconds(1)
      }
    ) { service in
      try await Self.learn(buyers, service)
      try await service.advance(.seconds(20))
      for customer in buyers { _ = try await service.ask(AnsweringService.request(try service.receipt(of: customer))) }
      let isSeen = try await eventually(within: Self.patience) {
        let named = try await Self.metric(Self.comparisons("ourDefect"), service)
        let affected = try await Self.metric(Self.impact, service)
        return named > 0 && affected > 0
      }
      #expect(isSeen)
      #expect(try await service.rowCount("comparisons WHERE cause = 'unknown'") == 0)
    }
  }

  @Test func `that hangs, or cannot compose, changes no answer`() async throws {
    let world = AnsweredWorld.world()
    let buyers = AnsweredWorld.buyers(world)
    let isStuck = Atomic<Bool>(true)
    for hangs in [true, false] {
      let composers = AnswerComposers { readings in
        while hangs, isStuck.load(ordering: .relaxed) { Self.wait() }
        return nil
      }
      try await AnsweringService.with(
        world, stage: "shadow",
        {
          $0.composers = composers
          ($0.shadow.within, $0.shadow.waiting, $0.shadow.mostUnderWay) = (.milliseconds(100), 4, 2)
        }
      ) { service in
        for customer in buyers + buyers {
          let request = AnsweringService.request(try service.receipt(of: customer))
          let answer = try await service.ask(request)
          #expect(answer.source == "apple" && answer.code == 0)
          #expect(AnsweredWorld.differences(answer.body, try await service.apple(request)) == [])
        }
        let isLeft = try await eventually(within: Self.patience) {
          try await Self.metric(Self.calls(hangs ? "late" : "failed"), service) > 0
        }
        #expect(isLeft)
        #expect(try await service.rowCount("comparisons") == 0)
        isStuck.store(false, ordering: .relaxed)
      }
    }
  }

  private static func wait() {
    let end = ContinuousClock.now + .milliseconds(5)
    while ContinuousClock.now < end {}
  }
}
