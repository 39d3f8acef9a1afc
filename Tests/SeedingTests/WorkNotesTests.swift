@testable import Seeding

@Suite struct `Notes of look-ups` {
  @Test func `of a seed do not wait for those of a claim`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 0)) { bench in
      try await bench.arrive([["7001"]])
      let now = bench.clock.clock.now()
      let scope = AppScope(app: bench.app.id, environment: .sandbox)
      try await bench.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          """
          INSERT INTO claimed_changes (app, environment, original_transaction_id, since, latest_at, changes, because, message, line)
          SELECT app, environment, '7002', 1, 1, 1, 2, REPEAT('m', 32), '' FROM work
          """)
        _ = try session.execute(
          """
          INSERT INTO work (app, environment, kind, subject, is_again, attempts, created_at, due_at)
          SELECT app, environment, 2, '7002', 1, 0, 1, 1 FROM work
          """)
      }
      func lease(_ queue: HistoryJobTable.Queue) async throws -> LeasedHistoryJob {
        let found = try await bench.pool.transaction { session throws(DatabaseError) in
          try HistoryJobTable.lease(
            HistoryJobTable.Selection(scope, queue), limit: 10, until: now + .minutes(15), owner: .random(count: 16),
            at: now,
            in: session
          ).customers
        }
        return try #require(found.first)
      }
      let (claim, seed) = (try await lease(.claimed), try await lease(.requested))
      #expect(claim.isClaimedAlone && !seed.isClaimedAlone)
      let logger = Logger(label: "test", level: .debug, handler: bench.log)
      let notes = HistoryJobUpdates(pool: bench.pool, clock: bench.clock.clock, logger: logger)
      let progress = Progress()
      try await withThrowingTaskGroup(of: Void.self) { group in
        // Somebody holds the claim's row until the seed is noted, or for twenty seconds.
        group.addTask {
          try await bench.pool.transaction { session throws(DatabaseError) in
            // By its key: a search would lock every row that it passes.
            let id = try session.query("SELECT id FROM work WHERE subject = '7002'").first?.int64("id") ?? 0
            _ = try session.query("SELECT id FROM work WHERE id = \(id) FOR UPDATE")
            progress.note("held")
            for _ in 0..<2_000 where !progress.has("seed") { usleep(10_000) }
          }
          progress.note("free")
        }
        while !progress.has("held") { try await Task.sleep(for: .milliseconds(10)) }
        group.addTask {
          progress.note("begins")
          _ = await notes.begin(claim)
        }
        while !progress.has("begins") { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: .milliseconds(200))
        #expect(await notes.begin(seed))
        progress.note("seed")
        try await group.waitForAll()
      }
      #expect(progress.said == ["held", "begins", "seed", "free"])
    }
  }
}

private final class Progress: Sendable {
  private let steps = Mutex<[String]>([])

  var said: [String] { steps.withLock { $0 } }

  func note(_ step: String) { steps.withLock { $0.append(step) } }

  func has(_ step: String) -> Bool { said.contains(step) }
}
