/// Services that work on a migration together.
///
/// They are killed, and the migration is paused and resumed.
@Suite struct MigrationKilledStory {
  /// The kills between files, and those inside the last file.
  private static let (kills, killsInside) = (2, 3)
  private static let customers = 60
  /// The rows of a file.
  ///
  /// At this rate each takes two seconds.
  private static let perFile = 14
  /// The number of copies of each row in the last file, which then needs four transactions.
  private static let repeats = 9

  @Test func `has the result of an undisturbed migration though services are killed, stopped and paused`()
    async throws
  {
    try await MigrateSite.with(customers: Self.customers) { site in
      let words = try files(of: site) + ["--app", MigrateSite.app]
      let expected = try await undisturbed(site, words)

      let other = try await site.withAnotherLedger()
      let job = try await other.start(words + ["--rows", "\(Self.perFile / 2)"])
      var services = try await stop(other, job)
      var random = SeededRandom()
      for kill in 1...Self.kills {
        let victim = Int.random(in: 0...1, using: &random)
        let goal = Int64((kill + 2) * Self.perFile)
        #expect(try await eventually { try await other.accounts(job)["in", default: 0] >= goal })
        await services[victim].end(SIGKILL)
        let status = try await other.status(job)
        #expect(MigrateSite.balances(status), "seed \(random.seed): \(status)")
        services[victim] = try await other.serve(isProcess: true)
      }
      for service in services { await service.end(SIGKILL) }
      #expect(try await other.program.run("migrate", "resume", "\(job)", "--rows", "0").status == 0)
      try await killInside(other, job, &random)
      let next = try await other.serve(isProcess: true)
      // What those who were killed had leased is free after 15 s.
      let last = try await other.ended(job, within: .seconds(90))
      #expect(last["state"] == "done", "seed \(random.seed): \(last)")
      #expect(MigrateSite.balances(last), "\(last)")
      #expect(await next.end(SIGTERM) == 0)
      let killed = try await other.outcome(job)
      #expect(killed.accounts == expected.accounts, "seed \(random.seed)")
      #expect(killed.purchases == expected.purchases, "seed \(random.seed)")
      #expect(killed.customers == expected.customers, "seed \(random.seed)")
      try await expectRows(of: other, job)
    }
  }

  /// Kills services one after the other while they read the last file, in which a transaction takes half a second.
  private func killInside(_ site: MigrateSite, _ job: Int64, _ random: inout SeededRandom) async throws {
    try await site.database.run(
      "CREATE TRIGGER slow BEFORE INSERT ON migration_links FOR EACH ROW SET @slept = SLEEP(0.002)")
    for kill in 1...Self.killsInside {
      // The leases of a service that was killed end after ten seconds.
      try await site.database.execute("UPDATE migration_parts SET lease_until = 0 WHERE state = 0")
      let before = try await rowsOfLast(site).count
      let victim = try await site.serve(isProcess: true)
      let hasWritten = try await eventually {
        let (count, isDone) = try await rowsOfLast(site)
        return count > before || isDone
      }
      #expect(hasWritten)
      // The kill hits a random moment of the next transaction.
      try await Task.sleep(for: .milliseconds(Int.random(in: 20...300, using: &random)))
      await victim.end(SIGKILL)
      let status = try await site.status(job)
      #expect(MigrateSite.balances(status), "seed \(random.seed): \(status)")
      if kill == 1 { #expect(try await rowsOfLast(site).isDone == false, "the kill is not inside the file") }
    }
    try await site.database.execute("UPDATE migration_parts SET lease_until = 0 WHERE state = 0")
    try await site.database.run("DROP TRIGGER slow")
  }

  /// The rows of the last file that are in the ledger.
  private func rowsOfLast(_ site: MigrateSite) async throws -> (count: Int, isDone: Bool) {
    let row = try #require(
      try await site.database.rows("SELECT rows_in, state FROM migration_parts ORDER BY number DESC LIMIT 1").first)
    return (try row.int("rows_in"), try row.int("state") == 1)
  }

  /// Files that each hold a few rows, and one that holds each row again and again, for other users.
  private func files(of site: MigrateSite) throws -> [String] {
    let rows = Program.text(site.table(in: site.database.place)).split(separator: "\n")
    try #require(rows.count > 6 * Self.perFile, "\(rows.count)")
    func file(_ name: String, _ lines: [String]) -> String {
      site.database.place.file("\(name).csv", Array(([String(rows[0])] + lines).joined(separator: "\n").utf8))
    }
    let small = stride(from: 1, to: rows.count, by: Self.perFile).map { start in
      file("part\(start)", rows[start..<min(start + Self.perFile, rows.count)].map(String.init))
    }
    let again = (0..<Self.repeats).flatMap { copy in
      rows.dropFirst().enumerated().map { number, row in
        let fields = row.split(separator: ",", omittingEmptySubsequences: false)
        return "\(fields[0]),again\(copy).\(number),\(fields[2])"
      }
    }
    try #require(again.count > 3 * 256, "\(again.count)")
    return small + [file("rest", again)]
  }

  /// Three services, which ask Apple about each customer once.
  private func undisturbed(_ site: MigrateSite, _ words: [String]) async throws -> MigrateOutcome {
    // A fault that does no harm counts the calls.
    try await site.apple.control(
      "fault", "fault=slow", "on=api", "operation=getTransactionHistory", "value=0", "times=null")
    var services: [RunningProgram] = []
    for _ in 0..<3 { services.append(try await site.serve(isProcess: true)) }
    let job = try await site.start(words)
    let status = try await site.ended(job)
    for service in services { #expect(await service.end(SIGTERM) == 0, "\(service.notes)") }
    try #require(status["state"] == "done", "\(status)")
    #expect(MigrateSite.balances(status), "\(status)")
    let outcome = try await site.outcome(job)
    #expect(!outcome.purchases.isEmpty)
    let (calls, customers) = (try await site.apple.matched(), outcome.customers.count)
    #expect(calls == Int64(customers), "\(calls) calls for \(customers) customers, \(site.receipts.count - 1) receipts")
    return outcome
  }

  /// Stops two services by SIGTERM in the middle of the job, pauses it, and resumes it with two others.
  private func stop(_ site: MigrateSite, _ job: Int64) async throws -> [RunningProgram] {
    var services = [try await site.serve(isProcess: true), try await site.serve(isProcess: true)]
    #expect(try await eventually { try await site.accounts(job)["in", default: 0] > 0 })
    let start = ContinuousClock.now
    for service in services { kill(service.id, SIGTERM) }
    for service in services { #expect(await service.ended() == 0, "\(service.notes)") }
    #expect(ContinuousClock.now - start < StoppedProgram.longest * 2)
    let left = try await site.accounts(job)["in", default: 0]
    #expect(try await site.database.count("migration_parts WHERE owner IS NOT NULL") == 0, "a lease is not released")
    #expect(try await site.program.run("migrate", "pause", "\(job)", "--reason", "for a test").status == 0)
    services = [try await site.serve(isProcess: true), try await site.serve(isProcess: true)]
    let isPaused = try await !eventually(within: .seconds(1)) { try await site.accounts(job)["in"] != left }
    #expect(isPaused)
    #expect(try await site.program.run("migrate", "resume", "\(job)").status == 0)
    #expect(try await eventually { try await site.accounts(job)["in", default: 0] > left }, "it was at its end")
    let audit = try await site.database.rows("SELECT action FROM audit WHERE subject = 'migration 1' ORDER BY id")
    let actions = ["start", "pause", "resume"].map { "migration.\($0)" }
    #expect(try audit.map { try $0.text("action") } == actions)
    return services
  }

  /// The rows agree with the accounts.
  private func expectRows(of site: MigrateSite, _ job: Int64) async throws {
    let ids = try await site.database.rows("SELECT state, COUNT(*) AS count FROM migration_ids GROUP BY state")
    let counts = Dictionary(uniqueKeysWithValues: try ids.map { (try $0.int("state"), Int64(try $0.int("count"))) })
    let accounts = try await site.accounts(job)
    #expect(counts[2, default: 0] == accounts["settled"])
    #expect(counts[3, default: 0] == accounts["unknown"])
    #expect(counts.values.reduce(0, +) == accounts["ids"])
  }
}
