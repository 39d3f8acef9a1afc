import Database
import JSON
import Support
import Testing

@Suite struct `The status of a rollout` {
  private static let app = SignedFixtures.bundleID

  @Test func `tells customers whose history was not known from those with an impact`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    try await database.addComparisons(10, affected: 1)
    try await database.addIncomplete(2)
    let status = try await program.run("rollout", "status", Self.app, "--json")
    let production = try #require(try status.objects.first { $0["environment"] == "Production" }, "\(status)")
    #expect(production["customers"] == 10 && production["affected"] == 1, "\(status)")
    #expect(production["incomplete"] == 2 && production["incompleteAffected"] == 2, "\(status)")
    #expect(production["causes"]?.object?["incomplete"] == 2)
    let shown = try await program.run("rollout", "status", Self.app)
    #expect(shown.output.contains("INCOMPLETE") && !shown.output.contains("UNKNOWN"), "\(shown)")
    let next = "2, switchyard compare list --app \(Self.app) --environment Production --cause incomplete"
    #expect(shown.notes.contains(next), "\(shown)")
    let listed = try await program.run("compare", "list", "--app", Self.app, "--cause", "incomplete", "--json")
    #expect(try listed.objects.count == 2, "\(listed)")
  }

  @Test func `names a stage that a newer binary set, which is treated as record`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    try await database.execute("UPDATE flags SET stage = 'beyond', ramp_share = 500 WHERE environment = 2")
    let shown = try await program.run("rollout", "status", Self.app)
    let lines = shown.output.split(separator: "\n")
    let newer = try #require(lines.first { $0.contains("Sandbox") }, "\(shown)")
    #expect(shown.status == 0 && newer.contains(" record (beyond) "), "\(shown)")
    #expect(lines.contains { $0.contains("Production") && !$0.contains("beyond") }, "\(shown)")
    let told = try await program.run("rollout", "status", Self.app, "--json").objects
    let sandbox = try #require(told.first { $0["environment"] == "Sandbox" })
    #expect(sandbox["unknownStage"] == "beyond" && sandbox["stage"] == "record")
  }
}
