/// Two processes on one ledger, and an App Store that accepts a number of calls in each second.
@Suite struct LimitTests {
  /// Calls in a second of each endpoint.
  private static let limit = 10
  private static let minute = Interval.minutes(1)

  /// The responses to calls for histories up to now.
  private struct Calls {
    let answered: Int
    let refused: Int

    init(_ bench: SeedingBench) {
      answered = bench.calls[.getTransactionHistory, 200]
      refused = bench.calls[.getTransactionHistory, 429]
    }
  }

  /// One of the processes.
  private struct Process {
    let client: AppStoreClient
    let seeding: HistoryJobWorker

    init(_ bench: SeedingBench, in time: VirtualTime, _ bounds: @escaping @Sendable (RateLimitKey) -> RateBounds) {
      let timing = CallTimeSource(clock: time.clock, sleep: { try await time.sleep($0) }, jitter: { 0.5 })
      client = bench.client(timing, bounds: bounds)
      seeding = bench.seeding(
        client,
        TimeSource(elapsed: { .milliseconds(0) }, sleep: { try await time.sleep($0) }, random: { $0 / 2 }),
        concurrency: 64)
    }

    /// The time from one of its calls to the next.
    func slot() -> Interval {
      let forecast = client.forecast(0, of: .getTransactionHistory, app: SeedingBench.bundleID, in: .sandbox)
      return .milliseconds(Int64((1_000 / forecast.perSecond).rounded(.up)))
    }
  }

  /// Customers that bought one thing or subscribed a month ago, with a history of one page.
  private static func world(customers: Int) -> AppStoreWorld {
    var plan = AppPlan.sample(SeedingBench.bundleID)
    plan.customers = customers
    plan.arrival = .days(10)
    plan.habits = .none
    plan.habits.buysOnce = 1_000
    plan.habits.subscribes = 250
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 11, start: SeedingBench.start)
    world.advance(to: SeedingBench.start + .days(40))
    return world
  }

  /// Runs both processes until `body` ends.
  private static func with(
    seconds: Int, _ bounds: @escaping @Sendable (RateLimitKey) -> RateBounds,
    _ body: @escaping @Sendable (SeedingBench, VirtualTime, [Process]) async throws -> Void
  ) async throws {
    try await SeedingBench.with(world(customers: limit * seconds)) { bench in
      try await bench.arrive(bench.customers)
      try await set(limit, bench)
      let time = VirtualTime(bench.clock) { bench.pool.figures.inUse > 0 || bench.http.underWay > 0 }
      try await time.run {
        let processes = (0..<2).map { _ in Process(bench, in: time, bounds) }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for process in processes { group.addTask { try await process.seeding.run() } }
          try await body(bench, time, processes)
          group.cancelAll()
          try await group.waitForAll()
        }
      }
    }
  }

  private static func set(_ limit: Int, _ bench: SeedingBench) async throws {
    _ = try await bench.http.send(ClientRequest(method: "DELETE", url: bench.running.controlURL + "/faults"))
    for operation in ["getTransactionHistory", "getAllSubscriptionStatuses"] {
      try await bench.fault([
        "fault": "secondLimit", "on": "api", "operation": .string(operation), "value": .integer(Int64(limit)),
      ])
    }
  }

  /// Expects that the processes use nine tenths of the limit in the next seconds, and that work waits all the time.
  private static func measure(
    _ seconds: Int64, of limit: Int, _ bench: SeedingBench, _ time: VirtualTime, _ name: String,
    meanwhile: () async throws -> Void = {}
  ) async throws {
    let (before, begun) = (Calls(bench), time.clock.now())
    try await meanwhile()
    try await time.sleep(begun + .seconds(seconds) - time.clock.now())
    let after = Calls(bench)
    let (answered, refused) = (after.answered - before.answered, after.refused - before.refused)
    #expect(try await bench.counts()["waiting"] ?? 0 > 0, "\(name): work was to wait all the time")
    #expect(Double(answered) >= 0.9 * Double(limit) * Double(seconds), "\(name): \(answered) in \(seconds) s")
    #expect(Double(refused) < 0.01 * Double(answered + refused), "\(name): \(refused) refused of \(answered)")
  }

  /// Looks up a customer that a process has leased and not begun, and returns the time until the call.
  private static func lookUpSomebody(
    by process: Process, _ bench: SeedingBench, _ time: VirtualTime
  ) async throws -> Interval {
    let id = try await bench.pool.read { session throws(DatabaseError) in
      try session.query(
        "SELECT subject FROM work WHERE state = 0 AND owner IS NOT NULL AND begun = 0 ORDER BY id DESC LIMIT 1"
      ).first?.text(0)
    }
    guard let id else { throw SeedingBench.Unexpected(what: "nobody is leased ahead") }
    let begun = time.clock.now()
    let states = try await process.seeding.lookUp([id], of: bench.app, in: .sandbox, within: .seconds(30))
    #expect(states == [id: .done])
    let world = bench.running.world
    let customer = world.customer(ofAnyTransactionID: id, app: SeedingBench.bundleID, environment: .sandbox)
    guard let customer, let asked = bench.running.historiesBegun[customer]?.first else {
      throw SeedingBench.Unexpected(what: "\(id) was not asked about")
    }
    return asked - begun
  }

  /// Expects that each customer was looked up once.
  private static func expectEverybodyOnce(_ bench: SeedingBench, _ time: VirtualTime) async throws {
    for _ in 0..<300 where try await bench.counts()["waiting"] ?? 0 > 0 { try await time.sleep(.seconds(1)) }
    #expect(try await bench.counts() == ["done": bench.customers.joined().count])
    let begun = bench.running.historiesBegun
    #expect(begun.count == bench.customers.count)
    #expect(begun.filter { $0.value.count != 1 }.isEmpty)
  }

  @Test func `uses a known limit, and sends the call of a waiting caller in the next slot`() async throws {
    let bounds: @Sendable (RateLimitKey) -> RateBounds = { _ in
      RateBounds(start: Double(Self.limit), most: Double(Self.limit), burst: 1)
    }
    try await Self.with(seconds: 40, bounds) { bench, time, processes in
      // Apple counts by the hour, the simulator by the second, so a call may be counted in the next second.
      try await Self.set(Self.limit + 1, bench)
      try await time.sleep(.seconds(5))
      try await Self.measure(20, of: Self.limit, bench, time, "known") {
        for _ in 0..<3 {
          for process in processes {
            let slot = process.slot()
            let waited = try await Self.lookUpSomebody(by: process, bench, time)
            #expect(waited <= slot, "waited \(waited.milliseconds) ms, a slot is \(slot.milliseconds) ms")
            try await time.sleep(.milliseconds(1_130))
          }
        }
      }
      try await Self.expectEverybodyOnce(bench, time)
    }
  }

  @Test(.soak) func `finds an unknown limit, and follows it when it is lowered`() async throws {
    try await Self.with(seconds: 200) {
      .unknown($0)
    } _: { bench, time, processes in
      try await time.sleep(Self.minute)
      try await Self.measure(60, of: Self.limit, bench, time, "unknown") {
        for process in processes + processes {
          // A refusal may have blocked the next call of both processes.
          let word = process.client.forecast(
            0, of: .getTransactionHistory, app: SeedingBench.bundleID, in: .sandbox)
          let waited = try await Self.lookUpSomebody(by: process, bench, time)
          if word.cause != .blocked {
            #expect(waited <= process.slot(), "waited \(waited.milliseconds) ms")
          }
          try await time.sleep(.milliseconds(3_370))
        }
      }
      try await Self.set(Self.limit / 2, bench)
      // A minute to learn the lower limit.
      try await time.sleep(Self.minute)
      try await Self.measure(60, of: Self.limit / 2, bench, time, "lowered")
      try await Self.expectEverybodyOnce(bench, time)
    }
  }
}
