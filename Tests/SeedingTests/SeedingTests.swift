import struct Seeding.HistoryJobDecision

@Suite struct `The seeding` {
  @Test func `asks about each customer once, and knows then what Apple knows`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 24)) { bench in
      let customers = bench.customers
      try await bench.arrive(customers)
      let asked = try await bench.finish(bench.worker())
      #expect(asked == customers.count)
      #expect(try await bench.counts() == ["done": customers.joined().count])
      #expect(try await bench.known() == bench.truth)
      let pages = bench.calls[.getTransactionHistory, 200]
      // What arrives again, by whichever id of theirs, is in a history that is stored.
      try await bench.arrive(customers.map { [$0[0], $0[0]] }, environment: .sandbox)
      #expect(try await bench.finish(bench.worker()) == 0)
      #expect(bench.calls[.getTransactionHistory, 200] == pages)
      let inbox = try await bench.pool.read { session throws(DatabaseError) in
        try session.query("SELECT COUNT(*) AS rows_there FROM inbox WHERE kind = 4").first?.int("rows_there")
      }
      #expect(inbox ?? 0 >= pages)
    }
  }

  @Test func `asks nobody twice with two workers on one ledger`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 24)) { bench in
      let customers = bench.customers
      try await bench.arrive(customers)
      async let first = bench.finish(bench.worker(concurrency: 4))
      async let second = bench.finish(bench.worker(concurrency: 4))
      #expect(try await first + second == customers.count)
      #expect(try await bench.counts() == ["done": customers.joined().count])
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `loses nobody when it is stopped in the middle`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 24)) { bench in
      let customers = bench.customers
      try await bench.arrive(customers)
      let (stream, reached) = AsyncStream<Void>.makeStream()
      let worker = bench.worker(concurrency: 4) {
        reached.yield()
        return true
      }
      let run = Task { try await worker.run() }
      var answers = 0
      for await _ in stream {
        answers += 1
        if answers == 10 { break }
      }
      run.cancel()
      try await run.value
      #expect(try await bench.counts()["waiting"] ?? 0 > 0)
      let other = bench.worker()
      // What was leased in the very moment is free when the lease ends.
      for _ in 0..<40 where try await bench.counts()["waiting"] ?? 0 > 0 {
        try await bench.finish(other)
        bench.clock.advance(by: .minutes(1))
      }
      #expect(try await bench.counts() == ["done": customers.joined().count])
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `takes over what a killed process had leased when its lease ends`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let customers = bench.customers
      try await bench.arrive(customers)
      let now = bench.clock.clock.now()
      let selection = HistoryJobTable.Selection(AppScope(app: bench.app.id, environment: .sandbox))
      let lost = try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.lease(
          selection, limit: 10, until: now + .minutes(15), owner: [UInt8](repeating: 1, count: 16), at: now,
          in: session
        ).customers
      }
      #expect(lost.count == customers.count)
      #expect(try await bench.worker().round() == 0)
      bench.clock.advance(by: .minutes(15))
      #expect(try await bench.finish(bench.worker()) == customers.count)
      // The killed process was only slow: what it notes of its lost leases changes nothing.
      try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.settle(
          lost.map { ($0, .closed(.failed, reason: "late")) }, at: now, in: session)
      }
      #expect(try await bench.counts() == ["done": customers.joined().count])
    }
  }

  @Test func `is not held up by ids that a history which is stored holds`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 6)) { bench in
      let world = bench.running.world
      func transactions(_ originals: [String]) -> [String] {
        let customer = world.customers(of: SeedingBench.bundleID).first {
          world.state(of: $0).originalTransactionIDs == originals
        }
        return customer.map { world.transactions(of: $0).map(\.transaction.transactionID) } ?? []
      }
      let first = try #require(bench.customers.first { transactions($0).count > $0.count + 2 })
      let second = try #require(bench.customers.first { $0 != first })
      try await bench.arrive([first])
      #expect(try await bench.finish(bench.worker()) == 1)
      // More of them than are leased at once, each by itself, and before somebody of whom nothing is known.
      let told = transactions(first).filter { !first.contains($0) }
      try await bench.arrive(told.map { [$0] })
      bench.clock.advance(by: .seconds(1))
      try await bench.arrive([second])
      #expect(try await bench.worker(concurrency: 1).round() == 1)
      #expect(try await bench.counts()["waiting"] == nil)
    }
  }

  @Test func `notes together customers of more transactions than a statement takes arguments`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 0)) { bench in
      let ids = (0..<70_000).map { "\(200_000_000_000 + $0)" }
      let (many, few) = (Array(ids[..<700]), ["300000000000", "300000000001"])
      try await bench.arrive([many, few])
      let now = bench.clock.clock.now()
      let selection = HistoryJobTable.Selection(AppScope(app: bench.app.id, environment: .sandbox))
      let owner = [UInt8](repeating: 2, count: 16)
      let leased = try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.lease(
          selection, limit: 1_000, until: now + .minutes(15), owner: owner, at: now, in: session
        ).customers
      }
      #expect(Set(leased.map(\.subject)) == [many[0], few[0]])
      try await bench.pool.transaction { session throws(DatabaseError) in
        let found = leased.map { customer in
          // Of the second customer Apple tells one id only.
          let held = customer.subject == few[0] ? Set(few.prefix(1)) : Set(ids)
          return HistoryJobTable.Outcome.stored(
            StoredHistory(
              environment: .sandbox, originalTransactionIDs: held, transactionIDs: held, revision: "1_1"))
        }
        try HistoryJobTable.settle(zip(leased, found).map { ($0, $1) }, at: now, in: session)
      }
      #expect(try await bench.counts() == ["done": 701, "waiting": 1])
      let again = try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.lease(
          selection, limit: 1_000, until: now + .minutes(15), owner: owner, at: now, in: session
        ).customers
      }
      #expect(again.map(\.subject) == [few[1]])
      #expect(again.map(\.attempt) == [1])
    }
  }

  @Test func `goes on through refusals and failures of Apple's until everybody is known`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 12)) { bench in
      let customers = bench.customers
      try await bench.arrive(customers)
      for kind in ["rateLimited", "serverError", "reset", "truncated", "badSignature"] {
        try await bench.fault(["fault": .string(kind), "on": "api", "percent": 10, "times": .null])
      }
      let worker = bench.worker()
      for _ in 0..<400 where try await bench.counts()["waiting"] ?? 0 > 0 {
        _ = try await worker.round()
        bench.clock.advance(by: .seconds(30))
      }
      #expect(try await bench.counts() == ["done": customers.joined().count])
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `settles what Apple does not know with the reason, and finds what is in the other environment`()
    async throws
  {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let known = bench.customers[0][0]
      try await bench.arrive([["999000000000001"]])
      try await bench.arrive([[known]], environment: .production)
      try await bench.finish(bench.worker())
      let reports = try await bench.pool.read { session throws(DatabaseError) in
        try HistoryJobTable.list(of: bench.app, HistoryJobTable.State.allCases, limit: 10, in: session)
      }
      #expect(reports.count == 2)
      #expect(reports.first { $0.subject == known }?.reason == "history in Sandbox")
      let unknown = reports.first { $0.subject != known }
      #expect(unknown?.state == .unknown && unknown?.reason == "Apple knows no such id")
      // Told in the right environment later, it is known already.
      try await bench.arrive([[known]])
      #expect(try await bench.worker().round() == 0)
      let now = bench.clock.clock.now()
      let retried = try await bench.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.retry(of: bench.app, [.unknown], at: now, in: session)
      }
      #expect(retried == 1)
      #expect(try await bench.finish(bench.worker()) == 1)
    }
  }

  @Test func `settles an empty history of an app that Apple accepts`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 2), app: "com.example.other") { bench in
      try await bench.arrive([[bench.customers[0][0]]])
      try await bench.finish(bench.worker())
      #expect(try await bench.counts() == ["unknown": 1])
    }
  }

  @Test func `asks about everybody at once when the key that Apple does not accept is replaced`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let right = try bench.running.store.identity.key.signingKey.pem()
      try await bench.register(try SigningKey.generate().pem())
      try await bench.arrive(bench.customers)
      let worker = bench.worker()
      _ = try await worker.round()
      #expect(bench.calls[.getTransactionHistory, 401] > 0)
      #expect(try await worker.round() == 0)
      try await bench.register(right)
      let calls = bench.calls[.getTransactionHistory, 401]
      try await bench.finish(worker)
      #expect(bench.calls[.getTransactionHistory, 401] == calls)
      #expect(try await bench.counts() == ["done": bench.customers.joined().count])
    }
  }

  @Test func `asks about nobody for a while when Apple does not let the app in`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 8)) { bench in
      try await bench.arrive(bench.customers)
      try await bench.fault(["fault": "unauthorized", "on": "api", "times": .null])
      let worker = bench.worker(concurrency: 2)
      #expect(try await bench.finish(worker) <= 2)
      #expect(try await bench.counts() == ["waiting": bench.customers.joined().count])
      #expect(bench.log.records.contains { "\($0)".contains("lookups pause") })
    }
  }

  @Test func `asks again from where the last history ended, for somebody who waits`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let worker = bench.worker(isPatient: true)
      let ids = bench.customers[0]
      try await bench.arrive([ids])
      let states = try await worker.lookUp(ids, of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(states == Dictionary(uniqueKeysWithValues: ids.map { ($0, HistoryJobTable.State.done) }))
      let calls = bench.calls[.getTransactionHistory, 200]
      // A moment later it is news enough.
      _ = try await worker.lookUp(ids, of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(bench.calls[.getTransactionHistory, 200] == calls)
      bench.clock.advance(by: .minutes(5))
      let again = try await worker.lookUp(ids, of: bench.app, in: .sandbox, within: .seconds(60))
      #expect(again?.values.allSatisfy { $0 == .done } == true)
      #expect(bench.calls[.getTransactionHistory, 200] == calls + 1)
      let stranger = App(id: App.ID(99), bundleID: "x", appAppleID: nil)
      let missing = try await worker.lookUp(["1"], of: stranger, in: .sandbox, within: .seconds(1))
      #expect(missing == nil)
    }
  }
}

@Suite struct `The budgets of the ledger` {
  @Test func `are shared by who asks, and what one learned all know`() async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    let now = SeedingBench.start
    try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
    }
    let key = RateLimitKey(app: "a", endpoint: .getTransactionHistory, environment: .production)
    let (first, second) = (DatabaseRateLimitStore(pool: pool), DatabaseRateLimitStore(pool: pool))
    let fresh = AdaptiveRate(.documented(key))
    #expect(try await first.renew(key, knowing: fresh, at: now).share == 1)
    var refused = fresh
    refused.refused(takenAt: now, retryAt: now + .seconds(30), now: now, .documented(key))
    let lease = try await second.renew(key, knowing: refused, at: now)
    #expect(lease.share == 0.5 && lease.until > now)
    let heard = try await first.renew(key, knowing: fresh, at: now + .seconds(1))
    #expect(heard.share == 0.5 && heard.learned.blockedUntil == now + .seconds(30))
    #expect(abs(heard.learned.perSecond - refused.perSecond) < 0.001)
    // Who does not come back leaves its share, and what it knew.
    let alone = try await first.renew(key, knowing: fresh, at: now + .minutes(1))
    #expect(alone.share == 1 && alone.learned.refusedAt == now)
    let other = RateLimitKey(app: "b", endpoint: .getTransactionHistory, environment: .production)
    #expect(try await second.renew(other, knowing: fresh, at: now).share == 1)
    await pool.close()
  }

  @Test func `end with their process, begin where it ended, and outlive no clock that was set back`() async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    let now = SeedingBench.start
    try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
    }
    let key = RateLimitKey(app: "a", endpoint: .getTransactionHistory, environment: .production)
    let (first, second) = (DatabaseRateLimitStore(pool: pool), DatabaseRateLimitStore(pool: pool))
    var budget = RateLimiterState(bounds: .documented(key))
    _ = try await first.renew(key, knowing: budget.learned, at: now)
    _ = budget.take(now: now)
    try await first.leave(key, knowing: budget.learned, at: now)
    let lease = try await second.renew(key, knowing: AdaptiveRate(.documented(key)), at: now)
    #expect(lease.share == 1)
    let taken = try #require(budget.learned.takenUntil)
    #expect(lease.learned.takenUntil == taken)
    // Of an hour that has not come yet: written before the clock was set back.
    _ = try await first.renew(key, knowing: budget.learned, at: now + .hours(1))
    #expect(try await second.renew(key, knowing: lease.learned, at: now).share == 1)
    _ = try await first.renew(key, knowing: budget.learned, at: now + .seconds(30))
    #expect(try await second.renew(key, knowing: lease.learned, at: now).share == 0.5, "two clocks are never the same")
    await pool.close()
  }

  @Test func `let a process in whose clock is behind, although the other never rests`() async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    let (start, ahead) = (SeedingBench.start, Interval.milliseconds(1_000))
    try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: start, in: session)
    }
    let key = RateLimitKey(app: "a", endpoint: .getTransactionHistory, environment: .production)
    let (busy, late) = (DatabaseRateLimitStore(pool: pool), DatabaseRateLimitStore(pool: pool))
    let known = AdaptiveRate(.documented(key))
    _ = try await busy.renew(key, knowing: known, at: start + ahead)
    let joined = try await late.renew(key, knowing: known, at: start)
    let from = try #require(joined.bulkFrom)
    for second in 1...2 { _ = try await busy.renew(key, knowing: known, at: start + ahead + .seconds(Int64(second))) }
    let inside = try await late.renew(key, knowing: known, at: from)
    #expect(inside.bulkFrom == nil && inside.share == 0.5)
    await pool.close()
  }
}

@Suite struct `A verdict` {
  private static let now = SeedingBench.start

  private static func failure(_ code: APIError.Code, _ number: Int64? = nil) -> HistoryFetch.Outcome {
    var failure = APIError(code, .getTransactionHistory, "")
    failure.errorCode = number
    return .failed(failure)
  }

  private static func word(_ outcome: HistoryFetch.Outcome, attempt: Int = 1, isAccepted: Bool = true) -> String {
    let verdict = HistoryJobDecision(outcome, attempt: attempt, isAccepted: isAccepted, jitter: 1, at: now)
    let pause = verdict.pause.map { " pause \(($0.until - now).milliseconds / 1_000)" } ?? ""
    return switch verdict.settlement {
    case .stored: "stored" + pause
    case .closed(let state, _): state.name + pause
    case .again(let due, _): "again \((due - now).milliseconds / 1_000)" + pause
    case .released(let due, _): "released \((due - now).milliseconds / 1_000)" + pause
    }
  }

  @Test func `gives up on a history that is refused again and again`() {
    #expect(Self.word(.refused("badSignature"), attempt: 50) == "failed")
  }

  @Test func `tells what is final from what is not, and whose fault it is`() {
    #expect(Self.word(Self.failure(.refused, 4_040_010)) == "unknown")
    #expect(Self.word(Self.failure(.refused, 4_000_006)) == "unknown")
    #expect(Self.word(Self.failure(.refused, 4_040_003)) == "released 300 pause 300")
    #expect(Self.word(Self.failure(.unauthorized)) == "released 300 pause 300")
    #expect(Self.word(Self.failure(.noToken)) == "released 300 pause 300")
    #expect(Self.word(.empty(.sandbox)) == "unknown")
    #expect(Self.word(.empty(.sandbox), isAccepted: false) == "released 300 pause 300")
    #expect(Self.word(Self.failure(.refused, 4_000_010)) == "failed")
    // A 404 of which nothing else can be read.
    #expect(Self.word(Self.failure(.refused)) == "again 60")
    #expect(Self.word(Self.failure(.refused), attempt: 10) == "failed")
    #expect(Self.word(Self.failure(.unreachable), attempt: 500) == "again 3600")
    #expect(Self.word(Self.failure(.serverFailed)) == "again 60")
    #expect(Self.word(Self.failure(.serverFailed), attempt: 3) == "again 240")
    #expect(Self.word(Self.failure(.malformedAnswer), attempt: 10) == "failed")
    #expect(Self.word(.refused("badSignature"), attempt: 9) == "again 3600")
    #expect(Self.word(.refused("badSignature"), attempt: 10) == "failed")
    #expect(Self.word(.notRecorded, attempt: 99) == "released 5")
    #expect(Self.word(Self.failure(.cancelled)) == "released 0")
    #expect(Self.word(Self.failure(.invalidCall)) == "failed")
  }

  @Test func `keeps everybody waiting until Apple takes calls again`() {
    var failure = APIError(.rateLimited, .getTransactionHistory, "")
    failure.retryAt = Self.now + .minutes(20)
    #expect(Self.word(.failed(failure)) == "released 1200 pause 1200")
    failure.retryAt = nil
    #expect(Self.word(.failed(failure)) == "released 60 pause 60")
  }
}
