/// `switchyard reconcile` and the finding of an id's app, against a simulated App Store in a process of its own.
@Suite struct `The reconcile command` {
  private static let (first, second) = ("com.example.first", "com.example.second")

  @Test func `says what is missing, takes it in, and ends as it went`() async throws {
    try await RunningSimulator.market([Self.first, Self.second]) { market in
      let database = try await TestDatabase.migrated()
      let program = database.program
      for words in [["reconcile"], ["seeds", "run"]] {
        let keyless = try await program.run(words)
        #expect(keyless.status == 1 && keyless.notes.contains("Apple cannot be asked about any app: no key"))
      }
      try await market.register(Self.first, program)
      try await market.register(Self.second, program)
      func reconcile(_ words: String...) async throws -> Program.Outcome {
        try await program.run(["reconcile"] + words + market.trust + ["--environment", "Sandbox"])
      }

      let tried = try await reconcile("--dry-run", "--json")
      #expect(tried.status == 3, "\(tried)")
      let figures = try tried.objects
      #expect(figures.map { $0["app"]?.string } == [Self.first, Self.second])
      #expect(figures.allSatisfy { $0["dryRun"] == true && $0["takenIn"]?.integer ?? 0 > 20 })
      #expect(try await database.rows("SELECT 1 FROM inbox").isEmpty)
      #expect(try await database.rows("SELECT 1 FROM work").isEmpty)

      // A call that fails in the middle: what came is stored, and the rest is told. A call asks for a week of 180 days.
      try await market.control("fault", "fault=unauthorized", "on=api", "operation=getNotificationHistory", "skip=23")
      let failed = try await reconcile(Self.first, "--json")
      #expect(failed.status == 1, "\(failed)")
      let partial = try #require(try failed.objects.first)
      #expect(partial["error"]?.string?.hasPrefix("notifications: getNotificationHistory in Sandbox") == true)
      let early = partial["takenIn"]?.integer ?? 0
      let missing = figures[0]["takenIn"]?.integer ?? 0
      #expect(early > 0 && early < missing)
      #expect(failed.notes.contains("next: switchyard api check"))
      try await market.control("mend")

      let whole = try await reconcile(Self.first, "--quiet", "0", "--json")
      #expect(whole.status == 0, "\(whole)")
      let report = try #require(try whole.objects.first)
      #expect(report["takenIn"]?.integer == missing - early && report["sent"]?.integer == missing)
      #expect(report["lookedUp"]?.integer ?? 0 > 3)
      #expect(report["pending"] == 0 && report["failed"] == 0 && report["error"] == nil)
      let table = try await reconcile(Self.first)
      #expect(table.status == 0 && table.output.contains("PENDING"), "\(table)")
      #expect(try await reconcile(Self.first, "--only-failures", "--json").objects.first?["takenIn"] == 0)

      try await market.control(
        "fault", "fault=rateLimited", "value=3600000", "on=api", "operation=getTransactionHistory", "times=null")
      let later = try await reconcile(Self.second, "--quiet", "0", "--json")
      #expect(later.status == 3, "\(later)")
      let pending = try later.objects.first?["pending"]?.integer ?? 0
      #expect(pending > 3)
      #expect(later.notes.contains("\(pending) customers are asked about later"))
      try await market.control(
        "fault", "fault=rateLimited", "value=3600000", "on=api", "operation=getNotificationHistory", "times=null")
      #expect(try await reconcile(Self.second, "--json").status == 7)
      #expect(try await reconcile("com.example.nobody").status == 1)
    }
  }
}
