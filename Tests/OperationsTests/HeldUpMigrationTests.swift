/// Why nothing of a bulk migration goes on.
@Suite struct `A bulk migration that is held up` {
  @Test func `says for what reason it is paused, by which file, and by which hours`() async throws {
    let here = try await Operated()
    let (app, now) = (here.app, Operated.now)
    var settings = MigrationSettings()
    settings.hours = MigrationHours("22-6")
    let id = try await here.connection.transaction { [settings] session throws(DatabaseError) in
      try MigrationJobTable.add(
        [.init(source: "{}", size: nil)], app: app, environment: nil, settings: settings, by: "kim", at: now,
        in: session)
    }
    func holdUp(_ flag: String?, hour: Int64) async throws -> MigrationBlocker? {
      let record = try await MigrationRecord.find(id, at: now, here.connection)
      return record.holdUp(byFile: flag, at: Timestamp(0) + .hours(hour))
    }
    func change(_ change: ChangeMigration.Change, _ author: AuditContext) async throws {
      let changing = ChangeMigration(change, of: id)
      _ = try await changing.apply(changing.plan(on: here.connection), by: author, at: now, on: here.connection)
    }
    #expect(try await holdUp(nil, hour: 23) == nil)
    let byHours = try await holdUp(nil, hour: 12)
    #expect(byHours?.cause == .hours && byHours?.told == "held up: it runs only from 22 to 6 UTC")
    let byFile = try await holdUp("/data/migrate.pause", hour: 23)
    #expect(byFile?.cause == .file && byFile?.text == "the file /data/migrate.pause exists: remove it to continue")
    try await here.execute(
      "INSERT INTO migration_hand_outs (job, owner, lease_until) VALUES (\(id), 'another', \(now + .seconds(5)))")
    let elsewhere = try await holdUp("/data/migrate.pause", hour: 23)
    #expect(elsewhere?.isPartial == true && elsewhere?.told.contains("other processes work on the job.") == true)
    try await here.execute("DELETE FROM migration_hand_outs")
    try await change(.pause, Operated.kim)
    let paused = try await holdUp(nil, hour: 23)
    #expect(paused?.cause == .paused && paused?.text == Operated.kim.reason)
    try await change(.resume, Operated.kim)
    #expect(try await holdUp(nil, hour: 23) == nil)
    try await change(.pause, AuditContext("kim"))
    #expect(try await holdUp(nil, hour: 23) != nil)
    try await change(.cancel, Operated.kim)
    #expect(try await holdUp("/data/migrate.pause", hour: 12) == nil)
  }
}
