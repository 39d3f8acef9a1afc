import Database
import Glibc
import JSON
import Support
import Testing
import Time

/// Processes that carry out a job are killed, and the job comes to what it would have come to.
@Suite struct `A migration whose processes are killed` {
  private static let kills = 10

  @Test func `comes to what it would have come to`() async throws {
    let place = TemporaryDirectory()
    var expected: MigrateOutcome?
    try await MigrateSite.with(customers: 320) { site in
      let job = try await site.start(site.table(in: place), "--app", MigrateSite.app)
      let service = try await site.serve()
      let status = try await site.ended(job)
      #expect(await service.end(SIGTERM) == 0)
      try #require(status["state"] == "done", "\(status)")
      expected = try await site.outcome(job)

      // The same once more into another ledger, with two processes of which one is killed again and again.
      let other = try await site.withAnotherLedger()
      let again = try await other.start(site.table(in: place), "--app", MigrateSite.app, "--rows", "150")
      var random = SeededRandom()
      var services = [try await other.serve(), try await other.serve()]
      for _ in 0..<Self.kills {
        let victim = Int.random(in: 0...1, using: &random)
        try await Task.sleep(for: .milliseconds(Int.random(in: 20...600, using: &random)))
        await services[victim].end(SIGKILL)
        let status = try await other.status(again)
        #expect(MigrateSite.balances(status), "seed \(random.seed): \(status)")
        services[victim] = try await other.serve()
      }
      // Look-ups that were under way when their process was killed wait for the end of its lease.
      for service in services { await service.end(SIGKILL) }
      try await other.database.execute("UPDATE work SET due_at = 0 WHERE state = 0 AND owner IS NOT NULL")
      services = [try await other.serve()]
      let last = try await other.ended(again)
      for service in services { #expect(await service.end(SIGTERM) == 0) }
      #expect(last["state"] == "done", "seed \(random.seed): \(last)")
      let killed = try await other.outcome(again)
      #expect(killed.accounts == expected?.accounts, "seed \(random.seed)")
      #expect(killed.purchases == expected?.purchases && !killed.purchases.isEmpty, "seed \(random.seed)")
      #expect(killed.customers == expected?.customers, "seed \(random.seed)")
      // The rows stand for what the accounts say.
      let ids = try await other.database.rows("SELECT state, COUNT(*) AS count FROM migration_ids GROUP BY state")
      let counts = Dictionary(uniqueKeysWithValues: try ids.map { (try $0.int("state"), Int64(try $0.int("count"))) })
      let accounts = try await other.accounts(again)
      #expect(counts[2, default: 0] == accounts["settled"] && counts[3, default: 0] == accounts["unknown"])
      #expect(counts.values.reduce(0, +) == accounts["ids"])
    }
  }

  @Test func `is left by SIGTERM within seconds, and resumed where it was`() async throws {
    // More rows than one step has: at 5 in a second the next step waits until long after the end of the service.
    try await MigrateSite.with(customers: 200) { site in
      let job = try await site.start(site.table(in: site.database.place), "--app", MigrateSite.app, "--rows", "5")
      let service = try await site.serve()
      let begun = await eventuallyTrue { try await site.accounts(job)["in", default: 0] > 0 }
      #expect(begun)
      let start = ContinuousClock.now
      #expect(await service.end(SIGTERM) == 0)
      #expect(ContinuousClock.now - start < StoppedProgram.longest)
      let left = try await site.accounts(job)["in", default: 0]
      let parts = try await site.database.rows("SELECT owner FROM migration_parts")
      #expect(try parts.allSatisfy { try $0.optionalBytes("owner") == nil }, "the lease is given back")
      // Paused, nothing goes on.
      #expect(try await site.program.run("migrate", "pause", "\(job)", "--reason", "for a test").status == 0)
      let next = try await site.serve()
      try await Task.sleep(for: .seconds(2))
      #expect(try await site.accounts(job)["in"] == left)
      #expect(try await site.program.run("migrate", "throttle", "\(job)", "--rows", "0").status == 0)
      #expect(try await site.program.run("migrate", "resume", "\(job)").status == 0)
      let status = try await site.ended(job)
      #expect(status["state"] == "done" && MigrateSite.balances(status), "\(status)")
      #expect(try await left < site.accounts(job)["in", default: 0], "it was left in its middle")
      #expect(await next.end(SIGTERM) == 0)
      let audit = try await site.database.rows("SELECT action FROM audit WHERE subject = 'migration 1' ORDER BY id")
      #expect(
        try audit.map { try $0.text("action") }
          == ["migration.start", "migration.pause", "migration.throttle", "migration.resume"])
    }
  }

  private func eventuallyTrue(_ condition: () async throws -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      if let isTrue = try? await condition(), isTrue { return true }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return false
  }
}
