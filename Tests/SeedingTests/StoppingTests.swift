/// A worker that is stopped while the calls about some are on their way, and others wait in line.
@Suite struct `A stop of the seeding` {
  private static let grace = Interval.seconds(7)

  /// Customers who bought one thing: a page each.
  private static func world(customers: Int) -> AppStoreWorld {
    var plan = AppPlan.sample(SeedingBench.bundleID)
    plan.customers = customers
    plan.arrival = .days(10)
    plan.habits = .none
    plan.habits.buysOnce = 1_000
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 13, start: SeedingBench.start)
    world.advance(to: SeedingBench.start + .days(40))
    return world
  }

  /// Nobody's wait ends by itself but the grace, if it is to.
  private static func pacing(endsGrace: Bool, asked: (@Sendable (Interval) -> Void)? = nil) -> TimeSource {
    TimeSource(
      elapsed: { .milliseconds(0) },
      sleep: { interval in
        asked?(interval)
        if endsGrace, interval == grace { return }
        await untilCancelled()
        throw CancellationError()
      }, random: { $0 / 2 })
  }

  /// A client whose budget lets two or three calls of each endpoint go, and then no more.
  private static func client(_ bench: SeedingBench) -> AppStoreClient {
    let last = bench.clock.clock.now() + .seconds(2)
    let timing = CallTimeSource(
      clock: bench.clock.clock,
      sleep: { interval in
        guard bench.clock.clock.now() + interval <= last else {
          await untilCancelled()
          throw CancellationError()
        }
        bench.clock.advance(by: interval)
        await Task.yield()
      }, jitter: { 0.5 })
    return bench.client(timing) { _ in RateBounds(start: 1, most: 1, burst: 1) }
  }

  /// Calls are on their way for a while before they are answered.
  private static func slow(_ bench: SeedingBench) async throws {
    try await bench.fault(["fault": "slow", "on": "api", "value": 1_500, "times": .null])
  }

  private static func leased(_ bench: SeedingBench) async throws -> Int {
    try await bench.pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS leased FROM work WHERE owner IS NOT NULL AND state = 0").first?
        .int("leased")
    } ?? 0
  }

  /// Everybody is known in the end, and was asked about once.
  private static func expectEverybodyOnce(_ bench: SeedingBench) async throws {
    _ = try await bench.http.send(ClientRequest(method: "DELETE", url: bench.running.controlURL + "/faults"))
    try await bench.finish(bench.worker())
    #expect(try await bench.counts() == ["done": bench.customers.joined().count])
    let begun = bench.running.historiesBegun
    #expect(begun.count == bench.customers.count)
    #expect(begun.filter { $0.value.count != 1 }.isEmpty)
  }

  @Test func `finishes what has begun, gives back everything else at once, and has nobody asked about twice`()
    async throws
  {
    try await SeedingBench.with(Self.world(customers: 8)) { bench in
      try await bench.arrive(bench.customers)
      try await Self.slow(bench)
      let worker = bench.seeding(Self.client(bench), Self.pacing(endsGrace: false), concurrency: 8, grace: Self.grace)
      let run = Task { try await worker.run() }
      #expect(await eventually { bench.http.underWay > 0 })
      #expect(try await Self.leased(bench) == bench.customers.joined().count)
      run.cancel()
      // Those in line are given back while a call is on its way.
      let isGivenBack = try await eventually { try await Self.leased(bench) < bench.customers.joined().count }
      #expect(isGivenBack)
      try await run.value
      let begun = bench.running.historiesBegun.count
      #expect(begun > 0 && begun < bench.customers.count)
      #expect(try await bench.counts()["done"] == begun)
      #expect(try await Self.leased(bench) == 0)
      try await Self.expectEverybodyOnce(bench)
    }
  }

  @Test func `gives up what Apple does not answer when the grace is over`() async throws {
    try await SeedingBench.with(Self.world(customers: 3)) { bench in
      try await bench.arrive(bench.customers)
      // Longer than the test lasts, as far as the grace does not end it.
      try await bench.fault(["fault": "stalled", "on": "api", "value": 600_000, "times": .null])
      let sleeps = Mutex<[Interval]>([])
      let pacing = Self.pacing(endsGrace: true) { interval in sleeps.withLock { $0.append(interval) } }
      let worker = bench.seeding(bench.client(), pacing, concurrency: 8, grace: Self.grace)
      let run = Task { try await worker.run() }
      #expect(await eventually { bench.http.underWay == bench.customers.count })
      #expect(sleeps.withLock { !$0.contains(Self.grace) }, "nobody is stopped yet")
      run.cancel()
      try await run.value
      #expect(sleeps.withLock { $0.filter { $0 == Self.grace }.count } == bench.customers.count)
      #expect(try await bench.counts() == ["waiting": bench.customers.joined().count])
      #expect(try await Self.leased(bench) == 0)
      _ = try await bench.http.send(ClientRequest(method: "DELETE", url: bench.running.controlURL + "/faults"))
      try await bench.finish(bench.worker())
      #expect(try await bench.counts() == ["done": bench.customers.joined().count])
    }
  }

  /// Somebody waits for Apple, who does not answer, and the service is to stop.
  @Test func `of the waits ends them, and gives back what Apple does not answer within the grace`() async throws {
    try await SeedingBench.with(Self.world(customers: 1)) { bench in
      let ids = bench.customers[0]
      try await bench.arrive([ids])
      try await bench.fault(["fault": "stalled", "on": "api", "value": 600_000, "times": .null])
      let pacing = Self.pacing(endsGrace: true)
      let worker = bench.seeding(bench.client(), pacing, concurrency: 8, grace: Self.grace)
      let wait = Task { try await worker.lookUp(ids, of: bench.app, in: .sandbox, within: .hours(1)) }
      #expect(await eventually { bench.http.underWay > 0 })
      worker.endWaits()
      #expect(try await wait.value == Dictionary(uniqueKeysWithValues: ids.map { ($0, HistoryJobTable.State.waiting) }))
      #expect(try await Self.leased(bench) == 0)
      let later = try await worker.lookUp(ids, of: bench.app, in: .sandbox, within: .hours(1))
      #expect(later?.values.allSatisfy { $0 == .waiting } == true, "nobody begins to wait")
    }
  }

  @Test func `of somebody's patience leaves what has begun to its end`() async throws {
    try await SeedingBench.with(Self.world(customers: 1)) { bench in
      let ids = bench.customers[0]
      try await bench.arrive([ids])
      try await Self.slow(bench)
      let limit = Interval.seconds(3)
      let pacing = TimeSource(
        elapsed: { .milliseconds(0) },
        sleep: { interval in
          if interval == limit, await eventually({ bench.http.underWay > 0 }) { return }
          await untilCancelled()
          throw CancellationError()
        }, random: { $0 / 2 })
      let worker = bench.seeding(bench.client(), pacing, concurrency: 8, grace: Self.grace)
      let states = try await worker.lookUp(ids, of: bench.app, in: .sandbox, within: limit)
      #expect(states == Dictionary(uniqueKeysWithValues: ids.map { ($0, HistoryJobTable.State.done) }))
      try await Self.expectEverybodyOnce(bench)
    }
  }
}
