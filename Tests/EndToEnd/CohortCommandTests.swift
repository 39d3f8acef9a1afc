@Suite struct `The cohort, from the command line` {
  private static let token = "0f5d1a9c-0000-4000-8000-00000000000a"

  @Test func `is added to, listed, removed from and cleared`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    _ = try await program.run("app", "add", app)
    let sandbox = ["--environment", "Sandbox"]
    let file = database.place.file("staff.txt", Array("user:kim\n\ntoken:\(Self.token)\n".utf8))
    let add =
      ["rollout", "cohort", app, "--add", "2000000012345678", "--add", "customer:2000000012345679", "--file", file]
      + sandbox
    let dry = try await program.run(add + ["--dry-run"])
    #expect(dry.output == "would: \(app) Sandbox: 2 added, 0 removed, 2 in the cohort\n", "\(dry)")
    #expect(dry.notes.contains("Sandbox: no purchase of token:\(Self.token) is known"), "\(dry)")
    func ids() async throws -> [String?] {
      try await program.run("rollout", "cohort", app, "--json").objects.map { $0["id"]?.string }
    }
    #expect(try await ids() == [])
    let added = try await program.run(add + ["--reason", "staff", "--json"])
    let line = try #require(try added.objects.first, "\(added)")
    #expect(line["added"] == 2 && line["removed"] == 0 && line["members"] == 2 && line["dryRun"] == false)
    #expect(line["next_steps"]?.array?.first?.string == "switchyard rollout cohort \(app) --environment Sandbox")
    #expect(try await ids() == ["customer:2000000012345678", "customer:2000000012345679"])
    // Without an environment: both, of which Production has no member.
    let removed = try await program.run("rollout", "cohort", app, "--remove", "2000000012345678")
    #expect(
      removed.output
        == "\(app) Production: 0 added, 0 removed, 0 in the cohort\n\(app) Sandbox: 0 added, 1 removed, 1 in the cohort\n"
    )
    #expect(try await program.run(["rollout", "cohort", app, "--clear"] + sandbox).status == 0)
    #expect(try await ids() == [])
    let history = try await program.run("rollout", "history", app)
    #expect(history.output.contains("Sandbox: 2 added, 0 removed: staff"), "\(history)")
  }

  @Test(arguments: [["--add", "kim"], ["--add", "user:kim", "--remove", "user:kim"], ["--remove", "token:kim"]])
  func `refuses what is not an ID, and two changes at once`(words: [String]) async throws {
    let refused = try await Program().run(["rollout", "cohort", "com.example.app"] + words)
    #expect(refused.status == 2, "\(refused)")
  }
}
