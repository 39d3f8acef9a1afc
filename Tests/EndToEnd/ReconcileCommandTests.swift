/// `switchyard reconcile` and the finding of an id's app, against a simulated App Store in a process of its own.
@Suite struct `The reconcile command` {
  private static let (first, second) = ("com.example.first", "com.example.second")

  @Test func `says what is missing, takes it in, and ends as it went`() async throws {
    try await RunningSimulator.market([Self.first, Self.second]) { market in
      let database = try await TestDatabase.migrated()
      let program = database.program
      for words in [["reconcile"], ["seeds", "run", "--once"]] {
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

  @Test func `has the api commands find the app of an id that is told without one`() async throws {
    try await RunningSimulator.market([Self.first, Self.second]) { market in
      let database = try await TestDatabase.migrated()
      let program = database.program
      func api(_ words: String...) async throws -> Program.Outcome {
        try await program.run(["api"] + words + ["--base-url", market.url, "--root", market.root])
      }
      let truth = try await market.control("truth")
      let bought = try #require(truth.last { $0["app"]?.string == Self.second && $0["orderId"]?.string != nil })
      let id = try #require(bought["transaction"]?.object?["transactionId"]?.string)
      let order = try #require(bought["orderId"]?.string)

      #expect(try await api("history", id).notes.contains("Apple cannot be asked about any app"))
      try await market.register(Self.first, program, hasKey: false)
      try await market.register(Self.second, program)
      let asked = try await api("history", id)
      #expect(asked.status == 0, "\(asked)")
      #expect(asked.notes.contains("\(id) is of \(Self.second) in Sandbox: Apple does"))
      #expect(try await api("status", id).status == 0)
      #expect(try await api("transaction", id, "--json").objects.count == 1)
      let bySales = try await api("order", order, "--environment", "Sandbox")
      #expect(bySales.status == 0 && bySales.notes.contains("kept: switchyard explain \(Self.second) \(order)"))
      // Now the ledger knows.
      let known = try await api("order", order)
      #expect(known.status == 0, "\(known)")
      #expect(known.notes.contains("\(order) is of \(Self.second) in Sandbox: the ledger knows it"))
      // Of an app that is named too: orders are else looked for in Production.
      let named = try await api("order", order, "--app", Self.second)
      #expect(named.status == 0, "\(named)")

      let nobodys = try await api("transaction", "999000000000001")
      #expect(nobodys.status == 1)
      #expect(nobodys.notes.contains("asked about \(Self.second)"))
      #expect(nobodys.notes.contains("not asked: \(Self.first): no key is registered"))
      #expect(nobodys.notes.contains("--app BUNDLE_ID"))
      _ = try await database.execute(
        """
        INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of)
        SELECT id, 2, '7', 1, '7', '', 1, 1 FROM apps
        """)
      let ambiguous = try await api("history", "7")
      #expect(ambiguous.status == 1 && ambiguous.notes.contains("7 is known of \(Self.first) and \(Self.second)"))
      // Where there is no ledger the command line has to say as whom.
      let place = TemporaryDirectory()
      let bare = try await Program().run("api", "history", id, "--data-dir", "\(place.path)/none")
      #expect(bare.status == 2 && bare.notes.contains("--bundle"))
    }
  }
}
