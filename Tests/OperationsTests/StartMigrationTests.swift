/// What an operator is warned of before a bulk migration begins.
@Suite struct `A bulk migration that would begin` {
  private static func silent(_ warnings: [MigrationWarning]) -> [String] {
    warnings.filter { $0.code == "noNotifications" }.map(\.text)
  }

  @Test func `is warned of each environment of which no notification came`() async throws {
    let here = try await Operated()
    let start = StartMigration([], of: Operated.bundleID, in: nil)
    let both = Self.silent(try await start.plan(on: here.connection).warnings)
    #expect(both.count == 2)
    try await here.execute(
      """
      INSERT INTO heartbeats (app, environment, asked_at, due_by, watched_at)
      VALUES (\(here.app.id.number), 2, 1, 1, 1)
      """)
    let one = Self.silent(try await start.plan(on: here.connection).warnings)
    #expect(one.count == 1 && one.allSatisfy { $0.contains("Production") }, "\(one)")
    let sandbox = StartMigration([], of: Operated.bundleID, in: .sandbox)
    #expect(Self.silent(try await sandbox.plan(on: here.connection).warnings).isEmpty)
  }

  @Test func `is refused for a changed folder unless that is accepted`() async throws {
    let here = try await Operated()
    let changed = MigrationWarning.changedFolder("/exports")
    let start = StartMigration([], of: Operated.bundleID, in: nil, warnings: [changed])
    let plan = try await start.plan(on: here.connection)
    #expect(plan.warnings.first == changed && changed.code == "changedFolder")
    let others = plan.warnings.filter { $0 != changed }
    await #expect(throws: MigrationRefused.self) {
      try await start.apply(plan, accepting: others, by: Operated.kim, at: Operated.now, on: here.connection)
    }
    let id = try await start.apply(
      plan, accepting: plan.warnings, by: Operated.kim, at: Operated.now, on: here.connection)
    let record = try await MigrationRecord.find(id, at: Operated.now, here.connection)
    #expect(record.job.settings.accepted.contains(changed.text))
  }

  @Test func `is warned that no app is registered`() async throws {
    let here = try await Operated()
    let start = StartMigration([], of: nil, in: nil)
    #expect(try await start.plan(on: here.connection).warnings.allSatisfy { $0.code != "noApp" })
    try await here.execute("UPDATE apps SET removed_at = 1")
    #expect(try await start.plan(on: here.connection).warnings.map(\.code) == ["noApp"])
  }
}
