/// Changes of a bulk migration that somebody else changed in the meantime.
@Suite struct `A change of a bulk migration` {
  private static func job(_ here: Operated) async throws -> Int {
    let app = here.app
    return try await here.connection.transaction { session throws(DatabaseError) in
      try MigrationJobTable.add(
        [.init(source: "{}", size: nil)], app: app, environment: nil, settings: MigrationSettings(), by: "kim",
        at: Operated.now, in: session)
    }
  }

  @Test(arguments: [MigrationJob.State.paused, .cancelled, .done])
  func `names the state that the job is in, not the one that it was in`(state: MigrationJob.State) async throws {
    let here = try await Operated()
    let id = try await Self.job(here)
    let changing = ChangeMigration(.pause, of: id)
    let plan = try await changing.plan(on: here.connection)
    try await here.execute("UPDATE migration_jobs SET state = \(state.rawValue) WHERE id = \(id)")
    let refusal = await #expect(throws: MigrationNotChanged.self) {
      try await changing.apply(plan, by: Operated.kim, at: Operated.now, on: here.connection)
    }
    #expect(refusal?.state == state && refusal?.description.contains("is \(state.name)") == true)
    #expect(try await here.audit().isEmpty)
  }

  @Test func `throttles no job that has ended, and the same limits twice`() async throws {
    let here = try await Operated()
    let id = try await Self.job(here)
    var settings = MigrationSettings()
    settings.callsPerSecond = 3
    let changing = ChangeMigration(.throttle(settings), of: id)
    let plan = try await changing.plan(on: here.connection)
    for _ in 0..<2 {
      let job = try await changing.apply(plan, by: Operated.kim, at: Operated.now, on: here.connection)
      #expect(job.settings.callsPerSecond == 3)
    }
    try await here.execute("UPDATE migration_jobs SET state = \(MigrationJob.State.done.rawValue) WHERE id = \(id)")
    let refusal = await #expect(throws: MigrationNotChanged.self) {
      try await changing.apply(plan, by: Operated.kim, at: Operated.now, on: here.connection)
    }
    #expect(refusal?.state == .done)
  }
}
