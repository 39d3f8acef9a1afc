@Suite struct `An operation on a consumption request` {
  private let now = Operated.now
  private let kim = Operated.kim

  /// One request, whose time ends in an hour.
  private func asked(transactionID: String? = "77", state: Int = 0) async throws -> Operated {
    let here = try await Operated()
    try await here.execute(
      """
      INSERT INTO consumption_requests (app, environment, id, transaction_id, asked_at, deadline, message, state, due_at)
      VALUES (\(here.app.id.number), 2, 'n1', \(transactionID), \(now), \(now + .hours(1)),
        \(Digest.sha256([1]).bytes), \(state), \(now))
      """)
    return here
  }

  @Test func `declines it for a reason that stays with it`() async throws {
    let here = try await asked()
    let decline = DeclineConsumption("77")
    try await here.expect("consumption.decline consumption 77: ticket 4") {
      try await decline.plan(at: now, on: here.connection)
    } apply: {
      try await decline.apply($0, by: kim, at: now, on: here.connection)
    }
    let kept = try #require(try await ConsumptionCases.find("n1", on: here.connection).first)
    #expect(kept.state == .declined && kept.reason == "ticket 4")
  }

  @Test func `keeps an answer with its entry, whatever becomes of telling Apple`() async throws {
    let here = try await asked()
    let (http, pool) = (HTTPClient(), Pool(here.configuration))
    let timing = CallTimeSource(clock: .fixed(at: now)) { _ in }
    let client = AppStoreClient(
      http: http, gate: RateLimiter(store: InMemoryRateLimitStore().member("test"), timing: timing), timing: timing)
    let report = ConsumptionReport(client: client, pool: pool, keys: .ofTests)
    let answer = AnswerConsumption(["customerConsented": true], to: "77")
    let outcome = try await here.expect("consumption.answer consumption 77: by hand: ticket 4") {
      try await answer.plan(at: now, on: here.connection)
    } apply: {
      try await answer.apply($0, with: report, by: kim, clock: .fixed(at: now), on: here.connection)
    }
    // The app has no key to ask with: the service goes on with it.
    guard case .later = outcome else { return #expect(outcome == .later("")) }
    let kept = try #require(try await ConsumptionCases.find("77", on: here.connection).first)
    #expect(kept.state == .waiting && kept.answer == ["customerConsented": true])
    await http.shutdown()
    await pool.close()
  }

  @Test func `refuses what is not open`() async throws {
    let here = try await asked()
    let decline = DeclineConsumption("77")
    try await here.expectRefusal(NoSuchConsumption.self) {
      _ = try await DeclineConsumption("78").plan(at: now, on: here.connection)
    }
    try await here.expectRefusal(ConsumptionNotOpen.self) {
      _ = try await decline.plan(at: now + .hours(2), on: here.connection)
    }
    try await here.expectRefusal(ConsumptionNotOpen.self) {
      _ = try await AnswerConsumption([:], to: "77").plan(at: now + .hours(2), on: here.connection)
    }
    // Somebody took it since the plan.
    let plan = try await decline.plan(at: now, on: here.connection)
    try await here.execute(
      "UPDATE consumption_requests SET owner = '0123456789abcdef', due_at = \(now + .minutes(5))")
    try await here.expectRefusal(ConsumptionNotOpen.self) {
      try await decline.apply(plan, by: kim, at: now, on: here.connection)
    }
    let unnamed = try await asked(transactionID: nil, state: 5)
    try await unnamed.expectRefusal(ConsumptionNotOpen.self) {
      _ = try await DeclineConsumption("n1").plan(at: now, on: unnamed.connection)
    }
  }
}
