@Suite struct `The destination of an app` {
  @Test func `is set, moved and looked at from the command line`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    _ = try await program.run("app", "add", app)
    let refused = try await program.run("rollout", "set", app, "legacy", "--reason", "test")
    #expect(refused.status == 4 && refused.notes.contains("app legacy-url"), "\(refused)")
    let early = try await program.run("rollout", "set", app, "ramp", "--percent", "5", "--reason", "test")
    #expect(early.status == 4 && early.notes.contains("rollout advance"))
    #expect(try await program.run("rollout", "set", app, "record").status == 2)

    let url = "https://old.example.com/apple?key=s3cret"
    let dry = try await program.run("app", "legacy-url", app, url, "--environment", "sandbox", "--dry-run")
    #expect(dry.output == "would: Sandbox: forward to old.example.com\n")
    #expect(try await program.run("app", "legacy-url", app, url, "--environment", "sandbox").status == 0)
    #expect(try await program.run("app", "legacy-url", app, "ftp://x", "--environment", "sandbox").status == 2)
    for (url, isWarned) in [
      ("http://back.example.com/a", true), ("http://127.evil.example.com", true), ("http://10.0.0.1:80", true),
      ("https://back.example.com", false), ("http://127.0.0.1:1/a", false), ("http://localhost", false),
      ("http://[::1]:8080/a", false),
    ] {
      let named = try await program.run("app", "legacy-url", app, url, "--environment", "sandbox", "--dry-run")
      #expect(named.status == 0 && named.notes.contains("plain http") == isWarned, "\(url): \(named)")
    }
    let legacy = ["rollout", "set", app, "legacy", "--environment", "Sandbox", "--reason", "a day back"]
    #expect(try await program.run(legacy + ["--dry-run"]).output.hasPrefix("would: "))
    let set = try await program.run(legacy)
    #expect(set.status == 0 && set.notes.contains("gap"), "\(set)")
    let off = try await program.run("app", "legacy-url", app, "off", "--environment", "Sandbox")
    #expect(off.status == 4, "\(off)")
    let shown = try await program.run("rollout", "status", app, "--json").objects
    #expect(shown.map { $0["stage"] } == ["record", "legacy"])
    #expect(shown.last?["epoch"] == 2 && shown.last?["isForwarding"] == true)
    let history = try await program.run("rollout", "history", app)
    #expect(history.output.contains("Sandbox: record to legacy: a day back"))
    let audit = try await database.rows("SELECT reason FROM audit")
    #expect(try audit.allSatisfy { try !$0.text("reason").contains("s3cret") })

    let message = String(repeating: "ab", count: 32)
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
      SELECT id, UNHEX(\(message)), 0, 1, 1, 1 FROM destinations
      """)
    #expect(try await program.run("outbox", "dead", "--all", "--dry-run").output == "would be: 1 given up\n")
    #expect(try await program.run("outbox", "dead", "abab").output == "1 given up\n")
    let listed = try #require(try await program.run("outbox", "list", "--json").objects.first)
    #expect(listed["state"] == "dead" && listed["digest"] == .string(message))
    #expect(try await program.run("outbox", "replay", "--all", "--app", app).output == "1 to be sent again\n")
    #expect(try await program.run("outbox", "list", "abab").output.contains("waiting"))
    #expect(try await program.run("outbox", "replay", "abab").status == 1)
    #expect(try await program.run("outbox", "replay").status == 2)
    for wrong in [
      ["--class", "forged"], ["--all", "--class", "proven"], ["abab", "--error", "x"], ["--older-than", "-1"],
    ] {
      #expect(try await program.run(["outbox", "dead"] + wrong).status == 2, "\(wrong)")
    }
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at, class, error)
      SELECT d.id, UNHEX(SHA2(CONCAT(c.class, e.error), 256)), 2, UNIX_TIMESTAMP() * 1000 - e.hours * 3600000, 1, 1, c.class,
        e.error
      FROM destinations d, (SELECT 1 AS class UNION SELECT 2 UNION SELECT 3) c,
        (SELECT 'answered 401' AS error, 2 AS hours UNION SELECT 'no answer: 100% lost', 30) e
      """)
    for (filter, count) in [
      (["--class", "unproven"], 2), (["--class", "proven"], 2), (["--error", "Answered 4"], 3),
      (["--error", "100%"], 3), (["--error", "_"], 0), (["--older-than", "24h"], 3), (["--newer-than", "24h"], 3),
      (["--class", "claimed", "--error", "401", "--newer-than", "3h"], 1),
    ] {
      let dry = try await program.run(["outbox", "replay", "--dry-run"] + filter)
      #expect(dry.output == "would be: \(count) to be sent again\n", "\(filter): \(dry)")
      let rows = try await program.run(["outbox", "list", "--state", "dead", "--json"] + filter).objects
      #expect(rows.count == count, "\(filter)")
    }
    let some = try await program.run("outbox", "replay", "--class", "claimed", "--error", "401", "--newer-than", "3h")
    #expect(some.output == "1 to be sent again\n", "\(some)")
    let noted = try await database.rows("SELECT reason FROM audit WHERE action = 'outbox.replay' ORDER BY at DESC")
    #expect(try noted.contains { try $0.text("reason") == "class claimed, reason 401, newer than 3h: 1 messages" })
    try await database.execute("DELETE FROM outbox WHERE error IS NOT NULL AND state = 2 OR class = 2")

    let sandbox = ["--environment", "Sandbox", "--reason", "again"]
    #expect(try await program.run(["rollout", "set", app, "record"] + sandbox).status == 0)
    let passing = try await program.run(["rollout", "set", app, "legacy"] + sandbox)
    #expect(passing.status == 4 && passing.notes.contains("outbox dead"), "\(passing)")
    let accepted = try await program.run(["rollout", "set", app, "legacy", "--pass-by"] + sandbox)
    #expect(accepted.status == 0 && accepted.notes.contains("overtake them"), "\(accepted)")
  }
}
