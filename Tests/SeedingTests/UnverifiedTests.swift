@testable import Seeding

@Suite struct `Ids that nothing proves` {
  @Test func `are asked about in both environments, and settled by any history that holds them`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 12)) { bench in
      let ids = try #require(bench.customers.first { $0.count > 1 })
      try await bench.arrive(ids.map { [$0] } + [["999000000000001"]], environment: .production, areProven: false)
      try await bench.finish(bench.worker())
      #expect(try await bench.counts() == ["done": ids.count, "unknown": 1])
      let kinds = try await bench.pool.read { session throws(DatabaseError) in
        try HistoryJobTable.counts(of: bench.app, in: session).map(\.kind)
      }
      #expect(Set(kinds) == [.unverifiedID])
    }
  }

  @Test func `are left to the queue of what is proven when an id of the customer is`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 12)) { bench in
      let ids = bench.customers[0]
      try await bench.arrive([[ids[0]]], areProven: false)
      try await bench.arrive([[ids[0]]])
      let worker = bench.worker()
      await worker.refresh()
      let place = HistoryJobWorker.APIScope(app: bench.app.id, environment: .sandbox)
      #expect(try await worker.round(in: HistoryJobWorker.HistoryJobQueue(place: place, queue: .unverified)) == 0)
      #expect(try await worker.round(in: HistoryJobWorker.HistoryJobQueue(place: place, queue: .requested)) == 1)
      #expect(try await bench.counts() == ["done": 2])
    }
  }

  @Test func `are waited for, and no unknown one is among those that stand in the way of a later stage`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let (seeding, id) = (bench.worker(isPatient: true), bench.customers[0][0])
      for (id, state) in [(id, HistoryJobTable.State.done), ("999000000000001", .unknown)] {
        let states = try await seeding.lookUp([id], of: bench.app, in: .sandbox, .unverified, within: .seconds(30))
        #expect(states == [id: state])
      }
      let scope = AppScope(app: bench.app.id, environment: .sandbox)
      let unsettled = try await bench.pool.read { session throws(DatabaseError) in
        try HistoryJobTable.unsettled(in: scope, createdBefore: Timestamp(.max), unknownSince: Timestamp(0), session)
      }
      #expect(unsettled == (0, 0, 0))
    }
  }

  /// A client can have its back end hand in a receipt with any ids.
  @Test func `take a tenth of Apple's budget beside others, and of no seed's, however many there are`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 0)) { bench in
      let time = VirtualTime(bench.clock) { bench.pool.figures.inUse > 0 || bench.http.underWay > 0 }
      try await time.run {
        let timing = CallTimeSource(clock: time.clock, sleep: { try await time.sleep($0) }, jitter: { 0.5 })
        let client = bench.client(timing) { _ in RateBounds(start: 20, most: 20) }
        let seeding = bench.seeding(
          client, TimeSource(elapsed: { .milliseconds(0) }, sleep: { try await time.sleep($0) }, random: { $0 / 2 }),
          concurrency: 64)
        try await bench.arrive((0..<600).map { ["8\(1_000_000 + $0)"] }, areProven: false)
        try await bench.arrive((0..<600).map { ["7\(1_000_000 + $0)"] })
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await seeding.run() }
          try await time.sleep(.seconds(5))
          let before = try await bench.unknown()
          try await time.sleep(.seconds(20))
          let after = try await bench.unknown()
          let (proven, unverified) = (after.proven - before.proven, after.unverified - before.unverified)
          // An unknown id takes a call in each environment, and each environment has its own budget.
          #expect(proven >= 320, "\(proven) proven ids of 360, \(unverified) others")
          #expect((30...48).contains(unverified), "\(unverified) others of 40")
          group.cancelAll()
          try await group.waitForAll()
        }
      }
    }
  }
}

extension SeedingBench {
  /// How many ids Apple said that it does not know.
  fileprivate func unknown() async throws -> (proven: Int, unverified: Int) {
    let counts = try await pool.read { session throws(DatabaseError) in try HistoryJobTable.counts(of: app, in: session)
    }
    func sum(_ kind: HistoryJobTable.Kind) -> Int {
      counts.filter { $0.state == .unknown && $0.kind == kind }.reduce(0) { $0 + $1.count }
    }
    return (sum(.history), sum(.unverifiedID))
  }
}
