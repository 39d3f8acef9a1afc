/// Customers of several pages, whose answers are recorded when a test says so.
@Suite struct `The pages of a look-up` {
  /// Weekly subscribers for 45 weeks: three pages each, and the statuses.
  private static func world(customers: Int) throws -> AppStoreWorld {
    var plan = AppPlan.sample(SeedingBench.bundleID)
    plan.customers = 0
    plan.habits = .none
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 17, start: SeedingBench.start)
    for _ in 0..<customers {
      let customer = try world.enrol(in: SeedingBench.bundleID, environment: .sandbox)
      try world.act(.buy(product: "lite.weekly"), on: customer)
    }
    world.advance(by: .days(7 * 45 - 3))
    return world
  }

  /// Counts the answers that were to be recorded.
  private final class Count: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  private static func pages(_ bench: SeedingBench) -> Int { bench.calls[.getTransactionHistory, 200] }

  private static func histories(_ bench: SeedingBench) async throws -> Int {
    try await bench.pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS count FROM histories").first?.int("count")
    } ?? 0
  }

  @Test func `are asked for while the page before is being recorded, and so are the statuses`() async throws {
    try await SeedingBench.with(Self.world(customers: 1)) { bench in
      try await bench.arrive(bench.customers)
      let count = Count()
      let wasAhead = Mutex<[Bool]>([])
      let worker = bench.worker {
        let number = count.next()
        // None is recorded before the next answer is there.
        let isAhead = await eventually {
          Self.pages(bench) > min(number, 2) && (number < 3 || bench.calls[.getAllSubscriptionStatuses, 200] == 1)
        }
        wasAhead.withLock { $0.append(isAhead) }
        return true
      }
      #expect(try await bench.finish(worker) == 1)
      #expect(wasAhead.withLock { $0 } == [true, true, true, true])
      #expect(Self.pages(bench) == 3)
      #expect(try await bench.counts() == ["done": bench.customers.joined().count])
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test(arguments: 1...4)
  func `of which one is not recorded are asked for again, from the beginning`(lost: Int) async throws {
    try await SeedingBench.with(Self.world(customers: 1)) { bench in
      try await bench.arrive(bench.customers)
      let count = Count()
      let worker = bench.worker {
        guard count.next() == lost else { return true }
        // The next answer is there when this one fails.
        if lost < 3 { _ = await eventually { Self.pages(bench) > lost } }
        return false
      }
      #expect(try await worker.round() == 1)
      // Of what follows on a page that was not recorded, one call was under way.
      #expect(Self.pages(bench) == min(lost + 1, 3))
      #expect(try await bench.counts() == ["waiting": bench.customers.joined().count])
      #expect(try await Self.histories(bench) == 0, "no revision, or what was lost would never be told again")
      #expect(try await bench.finish(worker) == 0, "not at once")
      bench.clock.advance(by: .seconds(6))
      #expect(try await bench.finish(worker) == 1)
      #expect(Self.pages(bench) == min(lost + 1, 3) + 3)
      #expect(try await bench.counts() == ["done": bench.customers.joined().count])
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `are all asked for again when the process ends while one is being recorded`() async throws {
    try await SeedingBench.with(Self.world(customers: 2)) { bench in
      try await bench.arrive(bench.customers)
      let count = Count()
      let pacing = TimeSource(
        elapsed: { .milliseconds(0) },
        sleep: { interval in
          // The grace is over at once, and nothing else.
          if interval != .milliseconds(77) { await untilCancelled() }
        }, random: { $0 / 2 })
      let worker = bench.seeding(bench.client(), pacing, concurrency: 8, grace: .milliseconds(77)) {
        if count.next() < 3 { return true }
        await untilCancelled()
        return false
      }
      let run = Task { try await worker.run() }
      #expect(await eventually { Self.pages(bench) >= 5 })
      run.cancel()
      try await run.value
      #expect(try await Self.histories(bench) == 0)
      #expect(try await bench.counts() == ["waiting": bench.customers.joined().count])
      #expect(try await bench.finish(bench.worker()) == 2)
      #expect(try await bench.counts() == ["done": bench.customers.joined().count])
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `that do not fit in memory together are recorded one after the other`() async throws {
    try await SeedingBench.with(Self.world(customers: 4)) { bench in
      try await bench.arrive(bench.customers)
      let inside = Mutex(0)
      let most = Mutex(0)
      let worker = bench.worker(answerBytes: 1) {
        let now = inside.withLock { count in
          count += 1
          return count
        }
        most.withLock { $0 = max($0, now) }
        for _ in 0..<20 { await Task.yield() }
        inside.withLock { $0 -= 1 }
        return true
      }
      #expect(try await bench.finish(worker) == 4)
      #expect(most.withLock { $0 } == 1)
      #expect(try await bench.known() == bench.truth)
    }
  }
}
