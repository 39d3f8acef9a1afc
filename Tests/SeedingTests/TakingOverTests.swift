@Suite struct `A lease` {
  private static func scope(_ bench: SeedingBench, _ environment: Environment = .sandbox) -> AppScope {
    AppScope(app: bench.app.id, environment: environment)
  }

  /// What a process that is not this one has leased.
  private static func leasedElsewhere(
    _ bench: SeedingBench, goesAtOnce: Bool = false
  ) async throws -> [LeasedHistoryJob] {
    let now = bench.clock.clock.now()
    return try await bench.pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.lease(
        HistoryJobTable.Selection(scope(bench), goesAtOnce: goesAtOnce), limit: 10, until: now + .minutes(15),
        owner: [UInt8](repeating: 1, count: 16), at: now, in: session
      ).customers
    }
  }

  private static func begin(_ customers: [LeasedHistoryJob], _ bench: SeedingBench) async throws -> [Bool] {
    try await bench.pool.transaction(replayable: true) { session throws(DatabaseError) in
      try HistoryJobTable.begin(customers, in: session)
    }
  }

  @Test func `is made once for whoever waits, whatever Apple answers`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      try await bench.fault(["fault": "unauthorized", "on": "api", "times": .null])
      let clock = bench.clock
      let pacing = TimeSource(
        elapsed: { .milliseconds(0) },
        sleep: { interval in
          // The pauses of whoever waits take their time at once; the limit comes when they have added up to it.
          guard interval > .seconds(1) else { return clock.advance(by: interval) }
          let due = clock.clock.now() + interval
          _ = await eventually { clock.clock.now() >= due }
        }, random: { $0 / 2 })
      let worker = bench.seeding(bench.client(), pacing, concurrency: 8)
      let states = try await worker.lookUp(bench.customers[0], of: bench.app, in: .sandbox, within: .seconds(20))
      #expect(states?.values.allSatisfy { $0 == .waiting } == true)
      let calls = bench.calls[.getTransactionHistory, 401]
      #expect((1...2).contains(calls), "\(calls): one for each environment at the most")
    }
  }

  @Test func `that nobody has begun is taken over for whoever waits`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let ids = bench.customers[0]
      try await bench.arrive(bench.customers)
      let lost = try await Self.leasedElsewhere(bench)
      #expect(lost.count == bench.customers.count)
      // In bulk it is left alone.
      #expect(try await bench.worker().round() == 0)
      let states = try await bench.worker(isPatient: true).lookUp(
        ids, of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(states?.values.allSatisfy { $0 == .done } == true)
      // The other process comes to it later: it asks about the others alone, and can spoil nothing.
      let areOurs = try await Self.begin(lost, bench)
      #expect(zip(lost, areOurs).allSatisfy { customer, isOurs in isOurs != ids.contains(customer.subject) })
      #expect(try await Self.begin(lost, bench) == areOurs, "noted twice as once")
      let now = bench.clock.clock.now()
      try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.settle(lost.map { ($0, .released(until: now)) }, at: now, in: session)
      }
      #expect(try await bench.finish(bench.worker()) == bench.customers.count - 1)
      #expect(bench.running.historiesBegun.values.allSatisfy { $0.count == 1 })
      #expect(bench.running.historiesBegun.count == bench.customers.count)
    }
  }

  @Test func `that was begun is waited for, until it ends`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let ids = bench.customers[0]
      try await bench.arrive(bench.customers)
      let begun = try await Self.leasedElsewhere(bench)
      #expect(try await Self.begin(begun, bench) == [true])
      let states = try await bench.worker().lookUp(ids, of: bench.app, in: .sandbox, within: .seconds(1))
      #expect(states?.values.allSatisfy { $0 == .waiting } == true)
      #expect(bench.running.historiesBegun.isEmpty)
      bench.clock.advance(by: .minutes(15))
      let later = try await bench.worker(isPatient: true).lookUp(
        ids, of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(later?.values.allSatisfy { $0 == .done } == true)
    }
  }

  @Test func `of whom is asked about at once is begun by that, and waited for`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let ids = bench.customers[0]
      try await bench.arrive(bench.customers)
      let begun = try await Self.leasedElsewhere(bench, goesAtOnce: true)
      #expect(begun.map(\.isBegun) == [true])
      let states = try await bench.worker().lookUp(ids, of: bench.app, in: .sandbox, within: .seconds(1))
      #expect(states?.values.allSatisfy { $0 == .waiting } == true)
      #expect(bench.running.historiesBegun.isEmpty)
      // What is given back is nobody's, and is asked about by whoever waits.
      let now = bench.clock.clock.now()
      try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.settle(begun.map { ($0, .released(until: now + .hours(1))) }, at: now, in: session)
      }
      let later = try await bench.worker(isPatient: true).lookUp(
        ids, of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(later?.values.allSatisfy { $0 == .done } == true)
    }
  }

  @Test func `notes by itself whom the budget lets go at once`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 8)) { bench in
      let client = bench.client(bounds: RateBounds(start: 10_000, most: 10_000))
      let unbegun = Mutex(0)
      let worker = bench.seeding(client, .system, concurrency: 64) {
        let count = try? await bench.pool.read { session throws(DatabaseError) in
          try session.query(
            "SELECT COUNT(*) AS count FROM work WHERE owner IS NOT NULL AND begun = 0 AND state = 0"
          ).first?.int("count")
        }
        unbegun.withLock { $0 = max($0, (count ?? nil) ?? .max) }
        return true
      }
      // Of the first call the budget is not known yet: it is noted by itself.
      try await bench.arrive([bench.customers[0]])
      try await bench.finish(worker)
      let isOpen = client.isOpen(
        to: 64, within: .milliseconds(100), of: .getTransactionHistory, app: SeedingBench.bundleID, in: .sandbox)
      #expect(isOpen)
      try await bench.arrive(Array(bench.customers.dropFirst()))
      #expect(try await worker.round() == bench.customers.count - 1)
      #expect(unbegun.withLock { $0 } == 0)
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `is not begun when the history of an id that nothing linked has told of it`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 12)) { bench in
      let ids = try #require(bench.customers.first { $0.count > 1 })
      // Each by itself, as a back end hands in bare ids.
      try await bench.arrive(ids.map { [$0] })
      let leased = try await Self.leasedElsewhere(bench)
      #expect(Set(leased.map(\.subject)) == Set(ids))
      _ = try await bench.worker(isPatient: true).lookUp(
        [ids[0]], of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(try await Self.begin(leased, bench) == leased.map { _ in false })
      #expect(try await bench.counts() == ["done": ids.count])
      #expect(bench.running.historiesBegun.values.map(\.count) == [1])
    }
  }

  @Test func `ids of one receipt are one customer, and those of a bare word their own`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 12)) { bench in
      let ids = try #require(bench.customers.first { $0.count > 1 })
      try await bench.arrive([ids])
      #expect(try await Self.leasedElsewhere(bench).map(\.subject).count == 1)
    }
  }

  @Test func `begins again where it was stopped, when one environment knows no such id`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let id = bench.customers[0][0]
      try await bench.arrive([[id]], environment: .production)
      let (now, worker) = (bench.clock.clock.now(), bench.worker())
      let key = RateLimitKey(
        app: SeedingBench.bundleID, endpoint: .getTransactionHistory, environment: .sandbox)
      var learned = AdaptiveRate(.unknown(key))
      learned.refused(takenAt: now, retryAt: now + .hours(1), now: now, .unknown(key))
      _ = try await DatabaseRateLimitStore(pool: bench.pool).renew(key, knowing: learned, at: now)
      func unknown() -> Int { bench.calls[.getTransactionHistory, 404] }
      for _ in 0..<3 {
        _ = try await worker.round()
        bench.clock.advance(by: .minutes(1))
      }
      #expect(unknown() == 1 && bench.calls[.getTransactionHistory, 200] == 0)
      for _ in 0..<80 where try await bench.counts()["waiting"] ?? 0 > 0 {
        bench.clock.advance(by: .minutes(1))
        _ = try await worker.round()
      }
      #expect(try await bench.counts() == ["done": 1])
      #expect(unknown() == 1, "Production was asked once")
    }
  }
}
