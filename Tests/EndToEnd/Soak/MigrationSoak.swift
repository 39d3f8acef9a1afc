/// For `scripts/soak migration`: a service, its own database and Apple are killed in turn while a job runs.
@Suite(.soak) struct MigrationSoak {
  private enum Victim: CaseIterable { case service, database, apple }

  @Test func `a disturbed migration has the result of an undisturbed one`() async throws {
    let kills = TestSize.migrationKills
    try await MigrateSite.with(customers: max(60, 20 * kills), canBeKilled: true) { site in
      let job = try await site.start(site.table(in: site.database.place), "--app", MigrateSite.app)
      let undisturbed = try await site.serve(isProcess: true)
      #expect(try await site.ended(job)["state"] == "done")
      #expect(await undisturbed.end(SIGTERM) == 0)
      let expected = try await site.outcome(job)
      try await PrivateInstallation.with { installation in
        try await run(site, installation, kills: kills, expected)
      }
    }
  }

  private func run(
    _ site: MigrateSite, _ installation: PrivateInstallation, kills: Int, _ expected: MigrateOutcome
  ) async throws {
    var program = installation.program
    program.environment.merge(site.apple.environment) { $1 }
    let serving = program
    func serve() async throws -> RunningProgram {
      try await RunningProgram.serve(
        serving, site.roots + ["--reconcile-every", "0", "--heartbeat-every", "0", "--log-level", "warning"])
    }
    /// How the job stands; the database may just be starting.
    func status() async throws -> JSONObject {
      var status: JSONObject?
      let isThere = try await eventually {
        status = try await serving.run("migrate", "status", "1", "--json").objects.first
        return status?["accounts"] != nil
      }
      try #require(isThere)
      return try #require(status)
    }
    let client = HTTPClient()
    var service = try await serve()
    let added = try await serving.run(["app", "add", MigrateSite.app] + site.apple.key)
    try #require(added.status == 0, "\(added)")
    let started = try await serving.run([
      "migrate", "start", "--yes", "--app", MigrateSite.app, "--rows", "100", site.table(in: installation.place),
    ])
    try #require(started.status == 0, "\(started)")
    var random = SeededRandom()
    let first = Int.random(in: 0..<3, using: &random)
    for kill in 0..<kills {
      try await Task.sleep(for: .milliseconds(Int.random(in: 20...900, using: &random)))
      switch Victim.allCases[(first + kill) % 3] {
      case .service:
        await service.end(SIGKILL)
        service = try await serve()
      case .database:
        let databases = installation.databases
        for database in databases { Glibc.kill(database, SIGKILL) }
        #expect(await eventually { !databases.contains { Glibc.kill($0, 0) == 0 } })
        #expect(await service.becomesReady(client, within: .seconds(120)), "\(service.notes)")
      case .apple: try await site.apple.isKilled()
      }
      let status = try await status()
      #expect(MigrateSite.balances(status), "seed \(random.seed): \(status)")
    }
    // Look-ups that were under way when the service was killed wait for the end of their lease.
    await service.end(SIGTERM)
    service = try await serve()
    try await installation.execute("UPDATE work SET due_at = 0 WHERE state = 0 AND owner IS NOT NULL")
    var last: JSONObject = [:]
    let hasEnded = try await eventually(within: .seconds(300)) {
      last = try await status()
      return last["state"] != "running"
    }
    #expect(hasEnded && last["state"] == "done", "seed \(random.seed): \(last) \(service.notes.suffix(4_000))")
    let outcome = try await MigrateOutcome(accounts: last["accounts"]) { try await installation.rows($0) }
    #expect(outcome.accounts == expected.accounts, "seed \(random.seed)")
    #expect(outcome.purchases == expected.purchases && !outcome.purchases.isEmpty, "seed \(random.seed)")
    #expect(outcome.customers == expected.customers, "seed \(random.seed)")
    await client.shutdown()
    #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
  }
}
