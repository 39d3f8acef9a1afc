/// Apple is asked about calls that we answered, so that the guard sees something where everybody gets our answers.
@Suite struct `A sample of our own answers` {
  private static let patience = Interval.seconds(120)

  /// A service that keeps no answer, and has every one compared.
  private static func with(
    _ world: AppStoreWorld, stage: String, _ change: (inout Application.Settings) -> Void = { _ in },
    _ body: @Sendable (AnsweringService) async throws -> Void
  ) async throws {
    try await AnsweringService.with(
      world, stage: stage,
      { settings in
        settings.answersKept = .milliseconds(0)
        settings.answersSampledEvery = .zero
        change(&settings)
      }, body)
  }

  /// Whether nobody waits to be asked about any more.
  private static func isKnown(_ service: AnsweringService) async throws -> Bool {
    try await eventually(within: patience) { try await service.rowCount("work WHERE state = 0") == 0 }
  }

  /// Asks about everybody until our answers are the ledger's, and so many customers have been compared.
  private static func ask(
    about buyers: [CustomerID], until isDone: (AnsweringService) async throws -> Bool, _ service: AnsweringService
  ) async throws -> Bool {
    for customer in buyers { _ = try await service.ask(AnsweringService.request(try service.receipt(of: customer))) }
    #expect(try await isKnown(service))
    try await service.advance(.seconds(20))
    return try await eventually(within: patience) {
      for customer in buyers {
        let answer = try await service.ask(AnsweringService.request(try service.receipt(of: customer)))
        if answer.source != "ledger" { return try await isDone(service) }
      }
      return try await isDone(service)
    }
  }

  /// Has one customer's call compared, behind which a call that was taken before would stand, and expects no other.
  private static func expectOneComparison(of customer: CustomerID, _ service: AnsweringService) async throws {
    let isCompared = try await eventually(within: patience) {
      _ = try await service.ask(AnsweringService.request(try service.receipt(of: customer)))
      return try await service.rowCount("comparisons") > 0
    }
    #expect(isCompared)
    #expect(try await service.rowCount("comparisons") == 1)
  }

  @Test func `is compared with Apple's in live, and clients get ours`() async throws {
    let world = AnsweredWorld.world(customers: 20)
    let buyers = AnsweredWorld.buyers(world)
    try await Self.with(world, stage: "live") { service in
      let areCompared = try await Self.ask(
        about: buyers, until: { try await $0.rowCount("comparisons") >= buyers.count }, service)
      let count = try await service.rowCount("comparisons")
      #expect(areCompared, "\(count) of \(buyers.count)")
      #expect(try await service.rowCount("comparisons WHERE cause <> 'equal'") == 0)
      #expect(try await service.rowCount("flags WHERE stage = 'live' AND environment = 2") == 1)
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyers[0])))
      #expect(answer.source == "ledger")
    }
  }

  @Test func `is one of a receipt, however often and however it is dressed`() async throws {
    let world = AnsweredWorld.world(customers: 20)
    let buyers = AnsweredWorld.buyers(world)
    try await Self.with(world, stage: "live") { service in
      var dressed = 0
      let areCompared = try await Self.ask(
        about: buyers,
        until: { service in
          for _ in 0..<5 {
            dressed += 1
            var request = AnsweringService.request(try service.receipt(of: buyers[0]))
            request["x"] = .integer(Int64(dressed))
            _ = try await service.ask(request)
          }
          return try await service.rowCount("comparisons") >= buyers.count
        }, service)
      #expect(areCompared)
      let repeated = try await service.metrics().contains("switchyard_shadow_calls_total{outcome=\"repeated\"} 0")
      #expect(repeated && dressed > 0)
    }
  }

  @Test func `is not taken of a client with a token in place of a password`() async throws {
    let world = AnsweredWorld.world()
    let buyers = AnsweredWorld.buyers(world)
    try await Self.with(world, stage: "live") { service in
      try await service.pool.transaction { session throws(DatabaseError) in
        guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
        try PolicyTable.set(answerClients: .token, of: app, at: service.clock.clock.now(), in: session)
      }
      func ask(_ customer: CustomerID) async throws -> AnsweringService.Answer {
        var request = AnsweringService.request(try service.receipt(of: customer))
        request["password"] = nil
        return try await service.ask(request, token: service.token)
      }
      for customer in buyers { _ = try await ask(customer) }
      #expect(try await Self.isKnown(service))
      try await service.advance(.seconds(20))
      var answered: [CustomerID] = []
      let areAnswered = try await eventually(within: Self.patience) {
        answered = []
        for customer in buyers {
          let answer = try await ask(customer)
          if answer.source == "ledger" && answer.code == 0 { answered.append(customer) }
        }
        return answered.count > 1
      }
      #expect(areAnswered)
      try await Self.expectOneComparison(of: try #require(answered.last), service)
    }
  }

  @Test func `lets the guard take an app back from live`() async throws {
    let world = AnsweredWorld.world(customers: 30)
    let buyers = AnsweredWorld.buyers(world).filter { !world.state(of: $0).subscriptions.isEmpty }
    try await Self.with(world, stage: "live", { $0.composers = .expiringAtPurchase }) { service in
      try await service.execute("UPDATE flags SET changed_at = 0 WHERE environment = 2")
      try await service.pool.transaction { session throws(DatabaseError) in
        guard let scope = try StageTable.all(in: session).keys.first(where: { $0.environment == .sandbox }) else {
          throw DatabaseError(.column, "no flag")
        }
        var rule = GuardRule()
        rule.leastCustomers = 5
        try GuardTable.set(rule, of: scope, at: service.clock.clock.now(), in: session)
      }
      let isBack = try await Self.ask(
        about: buyers,
        until: { try await $0.rowCount("flags WHERE stage = 'shadow' AND environment = 2") == 1 }, service)
      #expect(isBack)
      #expect(try await service.rowCount("audit WHERE actor = 'guard'") == 1)
    }
  }

  @Test func `is not taken in complete, where Apple is not asked`() async throws {
    let world = AnsweredWorld.world()
    let buyers = AnsweredWorld.buyers(world)
    try await Self.with(world, stage: "complete") { service in
      var rounds = 0
      let isDone = try await Self.ask(
        about: buyers,
        until: { _ in
          rounds += 1
          return rounds == 2
        }, service)
      #expect(isDone)
      let calls = try await service.metrics().split(separator: "\n").filter {
        $0.hasPrefix("switchyard_shadow_calls_total") && !$0.hasSuffix(" 0")
      }
      #expect(calls == [])
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE flags SET stage = 'live', epoch = epoch + 1 WHERE environment = 2")
      }
      try await Self.expectOneComparison(of: try #require(buyers.last), service)
    }
  }
}
