@Suite struct `The stages in which we answer, from the command line` {
  @Test func `are set by force alone, with a reason, and left without`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    _ = try await program.run("app", "add", app)
    let set = ["rollout", "set", app], sandbox = ["--environment", "Sandbox"]
    let refused = try await program.run(set + ["live", "--reason", "test"] + sandbox)
    #expect(refused.status == 4 && refused.notes.contains("rollout advance"), "\(refused)")
    #expect(refused.notes.contains("--force"))
    #expect(try await program.run(set + ["live", "--force"] + sandbox).status == 2)
    let secretless = try await program.run(set + ["complete", "--force", "--reason", "test"] + sandbox)
    #expect(secretless.status == 4 && secretless.notes.contains("app secret"), "\(secretless)")
    let forced = try await program.run(set + ["live", "--force", "--reason", "first week"] + sandbox)
    #expect(forced.status == 0 && forced.output == "\(app) Sandbox: record to live, forced\n", "\(forced)")
    let shown = try await program.run("rollout", "status", app, "--json").objects
    #expect(shown.map { $0["stage"] } == ["record", "live"])
    let history = try await program.run("rollout", "history", app)
    #expect(history.output.contains("Sandbox: record to live, forced: first week"))
    let doctor = try await program.run("doctor", "--json")
    #expect(doctor.output.contains("Sandbox is in live"), "\(doctor)")
    #expect(doctor.output.contains("Sandbox has no shared secret"))
    let back = try await program.run(set + ["record", "--reason", "back"] + sandbox + ["--json"])
    #expect(try back.objects.first?["forced"] == false, "\(back)")
  }

  @Test func `read unproven rules as the app chooses, and know who may ask without a password`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    _ = try await program.run("app", "add", app)
    let chosen = try await program.run(
      "app", "set", app, "--answer-reading", "Y-011", "--answer-reading", "Y-009", "--answer-clients", "token")
    #expect(chosen.output == "answer readings default to Y-009, Y-011\nanswer clients password to token\n", "\(chosen)")
    let shown = try #require(try await program.run("app", "list", app, "--json").objects.first)
    #expect(shown["answerReadings"] == ["Y-009", "Y-011"] && shown["answerClients"] == "token")
    let text = try await program.run("app", "list", app).output
    #expect(text.contains("readings  Y-009, Y-011\n") && text.contains("clients   token: "))
    for wrong in [["Y-999"], ["Y-008", "Y-009"], ["default", "Y-009"], ["Y-002"]] {
      let refused = try await program.run(["app", "set", app] + wrong.flatMap { ["--answer-reading", $0] })
      #expect(refused.status == 2, "\(wrong): \(refused)")
    }
    let cleared = try await program.run("app", "set", app, "--answer-reading", "default", "--json")
    let said = try #require(try cleared.objects.first)
    #expect(said["answerReadings"] == [] && said["answerReadingsBefore"] == ["Y-009", "Y-011"], "\(said)")
    #expect(try await program.run("app", "list", app).output.contains("readings  default\n"))
  }
}
