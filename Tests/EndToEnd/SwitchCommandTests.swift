@testable import switchyard

@Suite struct `The switch, from the command line` {
  @Test func `advances by evidence or by force, is looked at, and is killed`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    _ = try await program.run("app", "add", app)
    let sandbox = ["--environment", "Sandbox"]
    let advance = ["rollout", "advance", app] + sandbox
    let undecided = try await program.run("rollout", "advance", app, "--dry-run")
    let steps = "would: \(app) Production: record to shadow\nwould: \(app) Sandbox: record to shadow\n"
    #expect(undecided.output == steps, "\(undecided)")
    let shadow = try await program.run(advance + ["--json"])
    #expect(shadow.status == 0, "\(shadow)")
    #expect(try shadow.objects.first?["to"] == "shadow")
    let refused = try await program.run(advance + ["--json"])
    #expect(refused.status == 4, "\(refused)")
    let missing = try #require(try refused.objects.first?["missing"]?.array).compactMap(\.object)
    #expect(missing.count >= 3)
    for one in missing {
      #expect(one["evidence"]?.string?.isEmpty == false)
      #expect(one["next"]?.string?.hasPrefix("switchyard ") == true, "\(one)")
    }
    #expect(try await program.run(advance + ["--force"]).status == 2)
    let everywhere = try await program.run("rollout", "advance", app, "--force", "--reason", "first customers")
    #expect(everywhere.status == 2)
    #expect(everywhere.notes.contains("--environment"), "\(everywhere)")
    let forced = try await program.run(advance + ["--force", "--reason", "first customers"])
    #expect(forced.status == 0 && forced.output == "\(app) Sandbox: shadow to ramp 1 %, forced\n", "\(forced)")
    let set = ["rollout", "set", app, "ramp", "--reason", "test", "--force"] + sandbox
    #expect(try await program.run(set).status == 2)
    #expect(try await program.run(set + ["--percent", "101"]).status == 2)
    #expect(try await program.run(set + ["--percent", "12.5"]).status == 0)
    let shown = try await program.run("rollout", "status", app, "--json").objects
    #expect(shown.map { $0["percent"] } == [.null, "12.5"], "\(shown)")
    let smaller = try await program.run(advance + ["--percent", "5"])
    #expect(smaller.status == 4, "\(smaller)")
    #expect(try await program.run(advance + ["--percent", "x"]).status == 2)
    let larger = try await program.run(advance + ["--percent", "20", "--force", "--reason", "more of them"])
    #expect(larger.output == "\(app) Sandbox: ramp 12.5 % to ramp 20 %, forced\n", "\(larger)")

    let empty = try await program.run("compare", "list", "--app", app, "--json")
    #expect(empty.status == 0 && empty.output.isEmpty, "\(empty)")
    #expect(try await program.run("compare", "list", "--cause", "nothing").status == 2)
    #expect(try await program.run("compare", "show", "1").status == 1)
    let rules = try await program.run("compare", "rules", "--app", app, "--json")
    #expect(try rules.status == 0 && rules.objects.contains { $0["row"] == "Y-008" }, "\(rules)")
    let guarded = try await program.run(["rollout", "guard", app, "--min-customers", "50", "--json"] + sandbox)
    #expect(try guarded.objects.first?["customers"] == 50, "\(guarded)")
    let guarding = ["rollout", "guard", app] + sandbox
    let thresholds = try await program.run(
      guarding + ["--max-errors", "0.5", "--max-latency", "1.5", "--min-calls", "30", "--json"])
    let rule = try #require(try thresholds.objects.first, "\(thresholds)")
    #expect(rule["errorsPerMillion"] == 5_000 && rule["latencyPercentOfApple"] == 150 && rule["calls"] == 30)
    #expect(rule["customers"] == 50 && rule["changed"] == true)
    #expect(try await program.run(guarding + ["--max-latency", "0.5"]).status == 2)
    #expect(try await program.run(guarding + ["--max-errors", "0", "--max-latency", "0"]).status == 0)
    let status = try await program.run("rollout", "status", app, "--json").objects.last
    #expect(status?["guardRule"]?.object?["errorsPerMillion"] == 0 && status?["guardBreach"] == .null)
    // What others could read is refused, and the URL is not repeated.
    let open = try await program.run("serve", "--alert-webhook", "http://alerts.example.com/hidden")
    #expect(open.status == 2 && open.notes.contains("--alert-webhook") && !open.notes.contains("hidden"), "\(open)")

    for words in [["rollout", "kill"], ["rollout", "kill", app, "--all"]] {
      #expect(try await program.run(words).status == 2)
    }
    let elsewhere = ["rollout", "kill", app, "--environment", "Production"]
    let spared = "\(app) Production: record, Apple answers already.\n"
    let other = try await program.run(elsewhere)
    #expect(other.status == 0 && other.output == spared, "\(other)")
    #expect(other.notes.contains("Still answered by Switchyard: \(app) Sandbox (ramp 20 %)."), "\(other)")
    let told = try await program.run(elsewhere + ["--json"]).objects
    #expect(told.count == 2 && told[0]["stage"] == "record" && told[0]["changed"] == false, "\(told)")
    #expect(told[1]["stillAnswered"]?.array?.first?.object?["environment"] == "Sandbox", "\(told)")
    #expect(told[1]["services"]?.object?["following"] == 0 && told[1]["services"]?.object?["behind"] == 0, "\(told)")
    #expect(other.notes.contains("No service has reported within the last 15 seconds"), "\(other)")
    let dry = try await program.run("rollout", "kill", "--all", "--dry-run")
    #expect(!dry.notes.contains("No service") && !dry.notes.contains("follow"), "\(dry)")
    #expect(dry.output == "would: \(app) Sandbox: ramp 20 % to shadow\n", "\(dry)")
    #expect(dry.notes.contains("Apple answers already: 0 in shadow, 1 in a stage below it"), "\(dry)")
    let both = try await program.run("rollout", "kill", app, "--dry-run")
    #expect(both.output == spared + dry.output, "\(both)")
    let planned = try await program.run("rollout", "kill", "--all", "--dry-run", "--json").objects
    #expect(planned.map { $0["effect"]?.string } == ["none", "stopped", nil], "\(planned)")
    let killed = try await program.run("rollout", "kill", "--all", "--reason", "wrong answers")
    #expect(killed.status == 0 && killed.output == "\(app) Sandbox: ramp 20 % to shadow\n", "\(killed)")
    #expect(killed.notes.contains("No app is left in ramp, live or complete."))
    for words in [["--dry-run"], ["--reason", "again"]] {
      let again = try await program.run(["rollout", "kill", app, "--environment", "Sandbox"] + words)
      #expect(again.output == "\(app) Sandbox: in shadow already\n", "\(again)")
    }
    try await expectWaiting(database)
    try await expectFollowers(database)
    let decided = try await program.run(
      ["rollout", "advance", app, "--accept-unknown-ids", "--reason", "none"] + sandbox)
    #expect(decided.notes.contains("0 unknown ids accepted"), "\(decided)")
    for words in [["--accept-unknown-ids"], ["--until", "shadow"], ["--once"], ["--auto", "--dry-run"]] {
      #expect(try await program.run(["rollout", "advance", app] + words + sandbox).status == 2, "\(words)")
    }
  }

  /// While somebody holds an app's row, a kill says that it is not done yet, and in the end what it could not stop.
  private func expectWaiting(_ database: TestDatabase) async throws {
    let (program, app) = (database.program, SignedFixtures.bundleID)
    try await database.execute("UPDATE flags SET stage = 'live', epoch = epoch + 1")
    let other = try await Connection.open(database.configuration)
    try await other.read { session throws(DatabaseError) in
      try session.run("SET SESSION wait_timeout = 600 /*M!100300 , idle_transaction_timeout = 0 */")
      try session.run("START TRANSACTION")
      _ = try session.query("SELECT stage FROM flags WHERE environment = 2 LOCK IN SHARE MODE")
    }
    let killed = try await program.run("rollout", "kill", "--all", "--json")
    await other.close()
    #expect(killed.status == 1)
    let objects = try killed.objects
    #expect(objects.map { $0["effect"]?.string } == ["stopped", "failed", nil], "\(killed)")
    #expect(objects.map { $0["to"]?.string } == ["shadow", "live", nil], "\(killed)")
    let line = "Not done yet for \(app) Sandbox (live): another transaction holds the app's row. Trying for 25 seconds."
    #expect(killed.notes.contains(line), "\(killed)")
    #expect(
      killed.notes.contains(
        "NOT stopped, as far as is known: \(app) Sandbox (live): another transaction holds the app's row. "),
      "\(killed)")
    #expect(!killed.notes.contains("No app is left"), "\(killed)")
    #expect(try await program.run("rollout", "kill", app).status == 0)
  }

  /// Of two services one has not learned the newest stages: the commands say so, and are done all the same.
  private func expectFollowers(_ database: TestDatabase) async throws {
    let (program, app) = (database.program, SignedFixtures.bundleID)
    func note(_ process: String, mark: Int) async throws {
      // Ahead of the clock, so that however long a command takes, the service has not fallen silent.
      try await database.execute(
        """
        REPLACE INTO processes (process, mark, seen_at, name)
        VALUES (
          UNHEX(MD5(\(process))), \(mark), UNIX_TIMESTAMP(SYSDATE(3)) * 1000 + 600000, \(process + ":77"))
        """)
    }
    try await note("web-1", mark: 1_000_000)
    let set = ["rollout", "set", app, "shadow", "--environment", "Production", "--reason", "again"]
    let followed = try await program.run(set)
    #expect(followed.status == 0 && followed.notes.contains("1 of 1 service follow the current stages, after "))
    try await note("web-2", mark: 0)
    let killed = try await program.run("rollout", "kill", app, "--json", "--reason", "again")
    let services = try #require(try killed.objects.last?["services"]?.object, "\(killed)")
    #expect(killed.status == 0 && services["following"] == 1 && services["behind"] == 1, "\(killed)")
    #expect(services["behindNames"] == ["web-2:77"], "\(killed)")
    let line = "1 of 2 services follow the current stages, after 5."
    #expect(killed.notes.contains(line), "\(killed)")
    let late = "Not yet: web-2:77. Calls there may still get Switchyard's answers: runbooks/rollback.md."
    #expect(killed.notes.contains(late), "\(killed)")
    let status = try await program.run("rollout", "status", app)
    let running = "2 services are running. These have not learned the current stages yet: web-2:77."
    #expect(status.notes.contains(running), "\(status)")
  }
}
