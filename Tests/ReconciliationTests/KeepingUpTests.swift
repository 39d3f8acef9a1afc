/// Its budget waits until other processes have heard of it: so the clock goes on while a test waits.
@Suite struct `A running service` {
  @Test func `compares its apps with Apple by itself, once of all processes`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world, { $0.reconcileEvery = .hours(24) }) { kept in
      let isCompared = try await eventually {
        kept.clock.advance(by: .milliseconds(50))
        return try await kept.rowCount("reconciliations WHERE finished_until IS NOT NULL") == 2
      }
      #expect(isCompared, "Production and the Sandbox")
      // The service plans the next comparison after it has finished one: of Production before it begins the Sandbox's.
      let scope = AppScope(app: try await kept.place().scope.app, environment: .production)
      let now = kept.clock.clock.now()
      func claims(at instant: Timestamp) async throws -> Bool {
        try await kept.pool.transaction { session throws(DatabaseError) in
          try ReconciliationTable.claim(
            scope, every: .hours(24), lease: .hours(24), at: instant, in: session)
        }
      }
      #expect(try await !claims(at: now + .hours(23)))
      #expect(try await claims(at: now + .hours(25)))
      #expect(try await !claims(at: now + .hours(25)))
    }
  }

  @Test func `begins a comparison anew soon after it ended early, or its process was killed`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world, { $0.reconcileEvery = nil }) { kept in
      let (scope, begun) = (try await kept.place().scope, kept.clock.clock.now())
      func claims(after wait: Interval) async throws -> Bool {
        try await kept.pool.transaction { session throws(DatabaseError) in
          try ReconciliationTable.claim(
            scope, every: .hours(24), lease: .hours(1), at: begun + wait, in: session)
        }
      }
      // Whoever took the first is gone: an hour later it is due again.
      #expect(try await claims(after: .milliseconds(0)))
      #expect(try await !claims(after: .minutes(59)))
      #expect(try await claims(after: .minutes(60)))
      try await kept.pool.transaction { session throws(DatabaseError) in
        try ReconciliationTable.plan(scope, next: begun + .minutes(75), every: .hours(24), in: session)
      }
      #expect(try await !claims(after: .minutes(74)))
      #expect(try await claims(after: .minutes(75)))
      // A whole one by hand is as good; one of a few days leaves a gap before it, and is not.
      func finish(from start: Timestamp?, after wait: Interval) async throws -> Timestamp? {
        try await kept.pool.transaction { session throws(DatabaseError) in
          try ReconciliationTable.finish(scope, from: start, until: begun + wait, in: session)
          return try ReconciliationTable.finished(scope, in: session)
        }
      }
      #expect(try await finish(from: begun + .hours(1), after: .hours(2)) == nil)
      #expect(try await finish(from: nil, after: .hours(2)) == begun + .hours(2))
      #expect(try await !claims(after: .hours(25)))
      #expect(try await finish(from: begun + .days(3), after: .days(5)) == begun + .hours(2))
      #expect(try await finish(from: begun, after: .days(5)) == begun + .days(5))
    }
  }

  @Test func `tells which part of a comparison failed, and makes it again soon`() async throws {
    // Apple is where no HTTP goes.
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(
      world,
      {
        $0.reconcileEvery = .hours(24)
        $0.hosts = AppStoreHosts(simulator: "ftp://127.0.0.1")
      }
    ) { kept in
      let isTold = await eventually {
        kept.clock.advance(by: .milliseconds(50))
        return kept.log.records.contains { "\($0)".contains("a part of the comparison") }
      }
      #expect(isTold)
      let scope = try await kept.place().scope
      let isPlanned = try await eventually {
        kept.clock.advance(by: .milliseconds(50))
        let now = kept.clock.clock.now()
        return try await kept.pool.transaction { session throws(DatabaseError) in
          try ReconciliationTable.claim(
            scope, every: .hours(24), lease: .hours(24), at: now + .minutes(15), in: session)
        }
      }
      #expect(isPlanned)
      #expect(try await kept.rowCount("reconciliations WHERE finished_until IS NOT NULL") == 0)
      let metrics = String(decoding: kept.metrics.prometheusText(), as: UTF8.self)
      #expect(metrics.contains("switchyard_reconciliation_failures_total{"))
    }
  }
}
