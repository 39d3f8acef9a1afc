/// A ramp whose answers would cost customers access.
@Suite struct `The guard of a ramp` {
  @Test func `takes our answers back in the process that sees it, and tells why`() async throws {
    let world = AnsweredWorld.world(customers: 60)
    let buyers = AnsweredWorld.buyers(world)
    try await AnsweringService.with(world, stage: "ramp", isAsking: false) { service in
      try await service.execute("UPDATE flags SET ramp_share = 5000, changed_at = 0 WHERE environment = 2")
      let scope = try await service.pool.read { session throws(DatabaseError) in
        try StageTable.all(in: session).keys.first { $0.environment == .sandbox }
      }
      let sandbox = try #require(scope)
      let now = service.clock.clock.now()
      func add(_ customers: Range<Int>, affected: Int) async throws {
        try await service.pool.transaction { session throws(DatabaseError) in
          for customer in customers {
            let name = [UInt8(customer >> 8), UInt8(customer & 255)] + [UInt8](repeating: 7, count: 14)
            _ = try ComparisonTable.add(
              .init(
                cause: customer < affected ? "unknown" : "equal", counts: customer < affected, differences: [],
                impact: nil), of: .init(scope: sandbox, window: now, customer: name, receipt: name), epoch: 1,
              at: now, settlingAt: nil, in: session)
          }
        }
      }
      // Too few: it holds, whatever they say.
      try await add(0..<90, affected: 10)
      let holds = try await eventually(within: .seconds(60)) {
        try await service.metrics().contains(
          "switchyard_guard_state{app=\"\(AnsweringService.app)\",environment=\"Sandbox\"} 0")
      }
      #expect(holds)
      #expect(try await service.rowCount("flags WHERE stage = 'ramp'") == 1)
      try await add(90..<200, affected: 10)
      let isBack = try await eventually(within: .seconds(60)) {
        try await service.rowCount("flags WHERE stage = 'shadow' AND environment = 2") == 1
      }
      #expect(isBack)
      let story = try await service.rowCount("audit WHERE actor = 'guard' AND reason LIKE '%10 of 200 customers%'")
      #expect(story == 1)
      let answersApple = try await eventually(within: .seconds(60)) {
        let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyers[0])))
        #expect(answer.code == 0)
        return answer.source == "apple"
      }
      #expect(answersApple)
      #expect(
        try await service.metrics().contains(
          "switchyard_guard_breaches_total{app=\"\(AnsweringService.app)\",environment=\"Sandbox\",cause=\"impact\"} 1")
      )
      // It takes nothing back twice, and nothing forward.
      #expect(try await service.rowCount("audit WHERE actor = 'guard'") == 1)
    }
  }

  @Test func `takes back what we cannot answer, though Apple answers it in our place`() async throws {
    let world = AnsweredWorld.world(customers: 20)
    let buyers = AnsweredWorld.buyers(world).prefix(5)
    try await AnsweringService.with(
      world, stage: "record",
      {
        $0.composers = AnswerComposers { _ in nil }
        $0.shadow.timesWrittenEvery = .milliseconds(50)
      }
    ) { service in
      func ask() async throws {
        for buyer in buyers {
          let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyer)))
          #expect(answer.code == 0 && answer.source == "apple", "\(answer)")
        }
      }
      // Until enough is known to compose an answer.
      try await ask()
      let isKnown = try await eventually {
        let (open, known) = (
          try await service.rowCount("work WHERE state = 0"), try await service.rowCount("histories")
        )
        return open == 0 && known > 0
      }
      #expect(isKnown)
      try await service.pool.transaction { session throws(DatabaseError) in
        var rule = GuardRule()
        rule.leastCalls = 30
        for scope in try StageTable.all(in: session).keys where scope.environment == .sandbox {
          try GuardTable.set(rule, of: scope, at: Timestamp(1), in: session)
        }
      }
      try await service.execute(
        """
        UPDATE flags SET stage = 'ramp', ramp_share = 10000, ramp_salt = 's', epoch = epoch + 1 WHERE environment = 2
        """)
      let areCounted = try await eventually {
        try await ask()
        return try await service.rowCount(
          "(SELECT SUM(calls) AS n FROM answer_times WHERE side = 2 AND at_most = 0) AS ours WHERE n >= 30") > 0
      }
      #expect(areCounted)
      let isBack = try await eventually {
        try await service.rowCount("flags WHERE stage = 'shadow' AND environment = 2") == 1
      }
      #expect(isBack)
      #expect(
        try await service.rowCount(
          "audit WHERE actor = 'guard' AND reason LIKE '%calls got no answer from Switchyard, 0 of % none from Apple'")
          == 1)
    }
  }
}
