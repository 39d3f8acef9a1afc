import Database
import Glibc
import Support
import Testing

/// A rehearsal of a rollback that is stopped while the app is taken back.
@Suite struct `A rehearsal that is stopped` {
  private static let app = "com.example.stopped"

  private func count(_ database: TestDatabase, _ rows: SQL) async throws -> Int {
    try await database.rows("SELECT COUNT(*) AS n FROM " + rows).first?.int("n") ?? 0
  }

  @Test(arguments: [SIGINT, SIGTERM]) func `puts the app back where it was`(signal: Int32) async throws {
    let database = try await TestDatabase.migrated()
    let sandbox = [Self.app, "--environment", "Sandbox"]
    #expect(try await database.program.run("app", "add", Self.app).status == 0)
    let live = ["rollout", "set"] + sandbox + ["live", "--force", "--reason", "for a test"]
    #expect(try await database.program.run(live).status == 0)
    let service = try await RunningProgram.serve(database.program, [])
    let stopped = try await StoppedProgram.run(database.program, ["rollout", "drill"] + sandbox, signal) { _ in
      try await count(database, "flags WHERE stage = 'shadow'") == 1
    }
    stopped.expectOrderlyStop(
      saying: """
        The rehearsal does not count. If the first line of `switchyard rollout history BUNDLE_ID` is \
        rollout.drill.begin, the app is still in shadow.
        """)
    #expect(try await count(database, "flags WHERE stage = 'live'") == 1)
    #expect(try await count(database, "rollout_evidence") == 0)
    #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
  }
}
