import Database
import Glibc
import Support
import Testing

/// runbooks/guard-breach.md, typed word for word, after the guard of a service took an app back.
@Suite struct `The runbook of a breach` {
  private static let app = "com.example.breached"

  @Test func `shows whom it concerned, and what the next step needs`() async throws {
    let database = try await TestDatabase.migrated()
    // Apple has sent nothing in Production.
    let world = ["--customers", "1", "--history", "1", "--app", Self.app]
    try await RunningSimulator.with(world, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = database.place.path + "/data"
      program.environment.merge(apple.environment) { $1 }
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      let set = try await program.run(
        "rollout", "set", Self.app, "ramp", "--percent", "50", "--environment", "Production", "--force", "--reason",
        "test")
      #expect(set.status == 0, "\(set)")
      try await database.addComparisons(120, affected: 6)
      let service = try await RunningProgram.serve(program, ["--reconcile-every", "0", "--heartbeat-every", "0"])
      let typed: Result<[String], any Error>
      do { typed = .success(try await type(service, program, database)) } catch { typed = .failure(error) }
      let status = await service.end(SIGTERM)
      let texts = try typed.get()
      #expect(texts[0].contains("shadow") && texts[0].contains("rollout.guard"), "\(texts[0])")
      #expect(texts[1].contains("ourDefect"), "\(texts[1])")
      #expect(texts[2].contains("TO TAKE IN") && texts[2].contains("Production"), "\(texts[2])")
      #expect(texts.last?.contains("is not proven yet") == true, "\(texts)")
      #expect(status == 0, "\(service.notes)")
    }
  }

  /// Types the runbook once the guard has taken the app back.
  private func type(
    _ service: RunningProgram, _ program: Program, _ database: TestDatabase
  ) async throws -> [String] {
    let isBack = try await eventually {
      try await database.rows("SELECT 1 FROM flags WHERE stage = 'shadow' AND environment = 1").count == 1
    }
    #expect(isBack, "\(service.notes)")
    let isLogged = await eventually { service.notes.contains("the guard took an app back to shadow") }
    #expect(isLogged, "\(service.notes)")
    return try await Runbook("guard-breach").type(
      ["APP": Self.app, "ENVIRONMENT": "Production"], program, in: database.place.path)
  }
}
