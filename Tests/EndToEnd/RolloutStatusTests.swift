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

  @Test func `says of a guard that holds how many customers it knows`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let set = [
      "rollout", "set", Self.app, "ramp", "--percent", "5", "--environment", "Production", "--force", "--reason", "t",
    ]
    #expect(try await program.run(set).status == 0)
    try await database.addComparisons(85, affected: 7)
    let shown = try await program.run("rollout", "status", Self.app)
    #expect(shown.output.contains("held (85 of 100 customers, 8 % above 1 %)"), "\(shown)")
    let told = try await program.run("rollout", "status", Self.app, "--json").objects
    let production = try #require(told.first { $0["environment"] == "Production" })
    #expect(production["guard"] == "held" && production["guardSeen"]?.object?["affected"] == 7, "\(production)")
  }

  @Test func `is that of one environment when it is named, and so is its history`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    for environment in ["Production", "Sandbox"] {
      let set = ["rollout", "set", Self.app, "shadow", "--environment", environment, "--reason", "t"]
      #expect(try await program.run(set).status == 0)
    }
    for (name, spared) in [("Production", "Sandbox"), ("Sandbox", "Production")] {
      let only = ["--environment", name]
      let told = try await program.run(["rollout", "status", Self.app, "--json"] + only).objects
      #expect(told.map { $0["environment"]?.string } == [name])
      let history = try await program.run(["rollout", "history", Self.app] + only)
      #expect(history.output.contains("\(name): record to shadow") && !history.output.contains(spared), "\(history)")
    }
    let ramp = ["rollout", "set", Self.app, "ramp", "--percent", "12.5", "--environment", "Sandbox", "--force"]
    #expect(try await program.run(ramp + ["--reason", "live to complete"]).status == 0)
    let entries = try await program.run("rollout", "history", Self.app, "--json").objects
    let first = entries.first?["reason"]?.string
    #expect(first == "Sandbox: shadow to ramp 12.5 %, forced: live to complete", "\(entries)")
    #expect(entries.map { $0["environment"] } == ["Sandbox", "Sandbox", "Production"], "\(entries)")
    let wrong = try await program.run("rollout", "status", "--environment", "Xcode")
    #expect(wrong.status == 2, "\(wrong)")
  }
}
