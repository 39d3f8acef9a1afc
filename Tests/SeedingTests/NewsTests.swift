@Suite struct `News of customers who are known` {
  @Test func `is asked for in bulk, the statuses too, and once although several want it`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 8)) { bench in
      let ids = bench.customers.map { $0[0] }
      try await bench.arrive(bench.customers)
      try await bench.finish(bench.worker())
      let (pages, statuses) = (bench.calls[.getTransactionHistory, 200], bench.calls[.getAllSubscriptionStatuses, 200])
      bench.clock.advance(by: .hours(1))
      let (first, second) = (bench.worker(), bench.worker())
      let recent = bench.clock.clock.now() - HistoryJobWorker.recent
      for worker in [first, second] {
        try await worker.askAgain(ids, of: bench.app, in: .sandbox, unlessDoneSince: recent)
      }
      async let one = first.settled(ids, of: bench.app, in: .sandbox, within: .minutes(1))
      async let other = second.settled(ids, of: bench.app, in: .sandbox, within: .minutes(1))
      for states in try await [one, other] {
        #expect(states.count == ids.count && states.values.allSatisfy { $0 == .done })
      }
      #expect(bench.calls[.getTransactionHistory, 200] == pages + ids.count)
      #expect(bench.calls[.getAllSubscriptionStatuses, 200] >= statuses + ids.count)
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `is left to whoever runs the lanes, and not waited for when Apple says later`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 4)) { bench in
      let ids = bench.customers.map { $0[0] }
      let worker = bench.worker()
      let run = Task { try await worker.run() }
      let now = bench.clock.clock.now()
      try await worker.askAgain(ids, of: bench.app, in: .sandbox, unlessDoneSince: now)
      let states = try await worker.settled(ids, of: bench.app, in: .sandbox, within: .minutes(10))
      #expect(states.values.allSatisfy { $0 == .done })
      run.cancel()
      try await run.value
      try await bench.fault(["fault": "unauthorized", "on": "api", "times": .null])
      bench.clock.advance(by: .hours(1))
      let later = bench.worker()
      let then = bench.clock.clock.now()
      try await later.askAgain(ids, of: bench.app, in: .sandbox, unlessDoneSince: then)
      let waiting = try await later.settled(ids, of: bench.app, in: .sandbox, within: .minutes(10))
      #expect(waiting.count == ids.count && waiting.values.allSatisfy { $0 == .waiting })
    }
  }

  @Test func `does not keep the lanes from beginning when it was asked for before they did`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 4)) { bench in
      let (customers, worker) = (bench.customers, bench.worker())
      _ = try await worker.lookUp(customers[0], of: bench.app, in: .sandbox, within: .milliseconds(1))
      try await bench.arrive(customers)
      let run = Task { try await worker.run() }
      let isDone = try await eventually(within: .seconds(60)) { try await bench.counts()["waiting"] == nil }
      #expect(isDone)
      run.cancel()
      try await run.value
    }
  }

  @Test func `is asked for although the id waits already and its history is stored`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let id = bench.customers[0][0]
      try await bench.arrive([[id]])
      let worker = bench.worker()
      try await bench.finish(worker)
      let pages = bench.calls[.getTransactionHistory, 200]
      // As a restore of the database leaves it: the history is there, and the id waits as if it were new.
      _ = try await bench.pool.transaction { session throws(DatabaseError) in
        try session.execute("UPDATE work SET state = 0, is_again = 0, settled_at = NULL, due_at = 0")
      }
      let now = bench.clock.clock.now()
      try await worker.askAgain([id], of: bench.app, in: .sandbox, unlessDoneSince: now)
      #expect(try await worker.settled([id], of: bench.app, in: .sandbox, within: .minutes(1)) == [id: .done])
      #expect(bench.calls[.getTransactionHistory, 200] == pages + 1)
    }
  }
}
