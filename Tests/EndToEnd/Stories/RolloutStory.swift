/// The runbooks of a rollout, typed word for word against one simulated App Store and one service.
@Suite struct RolloutStory {
  private static let (moved, breached) = ("com.example.moved", "com.example.breached")
  private static let (compat, rollout) = ("com.example.compat", "com.example.rollout")
  private static let apps = [moved, breached, compat, rollout]

  /// The App Store and the program, and the service while it runs.
  private struct Site {
    let apple: RunningSimulator
    let database: TestDatabase
    let program: Program

    func type(
      _ page: String, _ values: [String: String], after preamble: String = "",
      times: (_ block: String) -> Int = { _ in 1 }
    ) async throws -> [String] {
      try await Runbook(page).type(
        values, program, in: database.place.path, after: preamble, within: .minutes(10), times: times)
    }

    func receipt(of app: String) throws -> String {
      database.place.file("\(app).b64", try apple.longestReceipt(of: app))
    }

    func secretFile(of app: String) -> String {
      database.place.file("\(app).txt", Array(((apple.secrets.first { $0.app == app }?.value ?? "") + "\n").utf8))
    }
  }

  @Test func `pages take apps back, forward by evidence, and to the ledger as they are written`() async throws {
    let (database, now) = (try await TestDatabase.migrated(), WallClock.system.now())
    let world = ["--customers", "48", "--history", "60", "--seed", "11", "--as-of", "\((now - .days(1)).sinceEpoch)"]
    try await RunningSimulator.with(world + Self.apps.flatMap { ["--app", $0] }, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_URL"] = apple.url + "/verifyReceipt"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_SANDBOX_URL"] = apple.url + "/sandbox/verifyReceipt"
      program.environment.merge(apple.environment) { $1 }
      let site = Site(apple: apple, database: database, program: program)
      for app in Self.apps {
        try await apple.register(app, program)
        #expect(
          try await program.run("app", "secret", app, "--shared-secret-file", site.secretFile(of: app)).status == 0)
      }
      try await loseRefund(apple, until: now)
      // A guard would act before the page does.
      try await rollBack(site)
      let service = try await RunningProgram.serve(
        program,
        ["--trust-root", apple.root, "--trust-root", "\(apple.directory)/receipt-root.der"]
          + ["--reconcile-every", "0", "--heartbeat-every", "0"])
      let typed: Result<Void, any Error>
      do {
        try await breach(site, service)
        try await compare(site, service)
        try await rollOut(site, service)
        typed = .success(())
      } catch { typed = .failure(error) }
      #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
      for (app, secret) in apple.secrets { #expect(!service.notes.contains(secret), "\(app)") }
      try typed.get()
      let status = try await program.run("rollout", "status", Self.compat)
      #expect(status.notes.contains("No service has reported"), "a service that stops is not counted: \(status)")
    }
  }

  private func set(_ app: String, _ stage: String..., in environment: String, _ site: Site) async throws {
    let set = try await site.program.run(
      ["rollout", "set", app] + stage + ["--environment", environment, "--force", "--reason", "test"])
    #expect(set.status == 0, "\(set)")
  }

  // MARK: rollback.md

  /// An app in `ramp 25`.
  ///
  /// Some of its customers would have had other access.
  private func rollBack(_ site: Site) async throws {
    try await set(Self.moved, "ramp", "--percent", "25", in: "Production", site)
    try await site.database.addComparisons(120, affected: 3, of: Self.moved)
    // In five minutes: 98 responses of Apple within 100 ms, 2 within 700 ms, and 3 failures.
    let start = WallClock.system.now().sinceEpoch / 300_000 * 300_000
    for (atMost, calls) in [(100, 98), (700, 2), (0, 3)] {
      try await site.database.execute(
        """
        INSERT INTO answer_times (app, environment, hour_start, side, at_most, calls)
        SELECT id, 1, \(start), 1, \(atMost), \(calls) FROM apps WHERE bundle_id = \(Self.moved)
        """)
    }
    try await expectFigures(site.program)
    try await expectWatched(site.program)
    let texts = try await site.type("rollback", ["APP": Self.moved, "ENVIRONMENT": "Production"])
    let expected = [
      [Self.moved, "Sandbox", "ramp 25 %", "breached", "APPLE P50/P99", "100/700"], ["ramp 25 % to shadow"],
      ["MISSING", "Production"], ["ourDefect", "complaints"], [#""stage":"shadow""#],
    ]
    for (text, words) in zip(texts, expected) {
      for word in words { #expect(text.contains(word), "\(text)") }
    }
  }

  private func expectFigures(_ program: Program) async throws {
    let seen = try await program.run("rollout", "status", Self.moved, "--json").objects
    let production = try #require(seen.first { $0["environment"] == "Production" })
    let apple = try #require(production["apple"]?.object)
    let ours = production["ours"]?.object?["p50Milliseconds"]
    #expect([production["stage"], production["guard"]] == ["ramp", "breached"])
    #expect([production["percent"], production["customers"], production["affected"]] == [25, 120, 3])
    #expect(
      [apple["answers"], apple["errors"], apple["p50Milliseconds"], apple["p99Milliseconds"]] == [100, 3, 100, 700])
    #expect(ours == .null)
    #expect(production["next_steps"]?.array?.first?.string?.hasPrefix("switchyard compare list") == true)
  }

  /// `rollout status --watch` prints a line with its time for each environment, until it is stopped.
  private func expectWatched(_ program: Program) async throws {
    let start = WallClock.system.now().iso8601.prefix(19)
    let watched = try await StoppedProgram.run(program, ["rollout", "status", Self.moved, "--watch", "--json"], SIGINT)
    {
      Program.text("\($0)/output").split(separator: "\n").count >= 2
    }
    let end = WallClock.system.now().iso8601.prefix(19)
    watched.expectOrderlyStop(saying: "Nothing was changed.")
    #expect(try watched.objects.map { $0["stage"] } == ["ramp", "record"], "\(watched.output)")
    // `2026-11-21T00:45:48Z`: as texts in the order of time.
    for line in try watched.objects {
      let time = line["time"]?.string ?? ""
      #expect(time.count == 20, "\(time)")
      #expect((start...end).contains(time.prefix(19)), "\(time)")
    }
  }

  // MARK: guard-breach.md

  /// Apple refunds a purchase, and the notification is lost.
  private func loseRefund(_ apple: RunningSimulator, until now: Timestamp) async throws {
    try await apple.control(
      "destination", "bundleId=\(Self.breached)", "environment=Sandbox", "url=http://127.0.0.1:1/none", "version=2")
    let bought = try #require(
      try await apple.purchases(of: Self.breached).compactMap { $0["transaction"]?.object }.last {
        $0["inAppOwnershipType"] == "PURCHASED" && $0["revocationDate"] == nil
      })
    try await apple.control(
      "act", "act=refund", "transactionId=\(bought["transactionId"]?.string ?? "")", "bundleId=\(Self.breached)",
      "environment=Sandbox")
    try await apple.control("advance", "to=\(now.sinceEpoch)")
  }

  private func breach(_ site: Site, _ service: RunningProgram) async throws {
    try await expectMissing(["--since", "3d", "--dry-run"], status: 3, isAny: true, site)
    try await set(Self.breached, "ramp", "--percent", "50", in: "Sandbox", site)
    try await site.database.addComparisons(120, affected: 6, in: 2, of: Self.breached)
    let isBack = try await eventually {
      let word = "the guard took an app back to shadow"
      return try await site.database.count("flags WHERE stage = 'shadow' AND environment = 2") == 1
        && service.notes.contains(word)
    }
    #expect(isBack, "\(service.notes)")
    // The simulator's signatures count in addition to Apple's.
    let trust = """
      switchyard() {
        case "$1" in
          reconcile) command switchyard "$@" --trust-root '\(site.apple.root)' ;;
          *) command switchyard "$@" ;;
        esac
      }
      """
    let texts = try await site.type(
      "guard-breach", ["APP": Self.breached, "ENVIRONMENT": "Sandbox"], after: trust)
    #expect(texts[0].contains("shadow"), "\(texts[0])")
    #expect(texts[0].contains("rollout.guard"), "\(texts[0])")
    #expect(texts[1].contains("ourDefect"), "\(texts[1])")
    #expect(texts[2].contains("MISSING"), "\(texts[2])")
    #expect(texts[2].contains("Sandbox"), "\(texts[2])")
    #expect(texts.last?.contains("is not proven yet") == true, "\(texts)")
    // As step 2 says: the command ingests the message, and then nothing is missing.
    try await expectMissing([], status: 0, isAny: true, site)
    try await expectMissing(["--since", "3d", "--dry-run"], status: 0, isAny: false, site)
  }

  private func expectMissing(_ words: [String], status: Int32, isAny: Bool, _ site: Site) async throws {
    let outcome = try await site.program.run(
      ["reconcile", Self.breached, "--environment", "Sandbox", "--trust-root", site.apple.root, "--json"] + words)
    let takenIn = try #require(try outcome.objects.first?["takenIn"]?.integer, "\(outcome)")
    #expect(outcome.status == status, "\(outcome)")
    #expect((takenIn > 0) == isAny, "\(outcome)")
  }

  // MARK: compare

  /// In `shadow` the service compares its answers with Apple's, and commands show the differences.
  private func compare(_ site: Site, _ service: RunningProgram) async throws {
    let (program, secret) = (site.program, site.apple.secrets.first { $0.app == Self.compat }?.value ?? "")
    let shadow = try await program.run(
      "rollout", "set", Self.compat, "shadow", "--environment", "Sandbox", "--reason", "look")
    #expect(shadow.status == 0, "\(shadow)")
    let client = HTTPClient()
    for receipt in site.apple.receipts(of: Self.compat) {
      let body: JSONObject = ["receipt-data": .string(receipt), "password": .string(secret)]
      let answer = try await client.send(
        ClientRequest(
          method: "POST", url: service.url + "/sandbox/verifyReceipt", body: body.encoded(), deadline: .seconds(90),
          responseLimit: 8 << 20))
      #expect(answer.headers["Switchyard-Answered-By"] == "apple")
    }
    await client.shutdown()
    func lines() async throws -> [JSONObject] {
      try await program.run("compare", "list", "--app", Self.compat, "--json").objects
    }
    // A customer whose history was not known when they asked: our answer lacks what Apple's has.
    #expect(try await eventually { try await !lines().isEmpty })
    for line in try await lines() {
      for key in ["path", "cause", "theirs", "ours", "impact"] { #expect(line[key] != nil, "\(line)") }
    }
    let causes = Set(try await lines().compactMap { $0["cause"]?.string })
    #expect(causes.isSubset(of: ["incomplete", "legacyQuirk", "timing"]), "\(causes)")
    let id = try #require(try await lines().first?["comparison"]?.integer)
    let shown = try await program.run("compare", "show", "\(id)", "--json")
    let document = try #require(try shown.objects.first)
    #expect(document["theirs"]?.object?["status"] == 0, "\(shown)")
    #expect(document["ours"]?.object != nil, "\(shown)")
    let text = try await program.run("compare", "show", "\(id)", "--all").output
    #expect(text.hasPrefix("\(Self.compat) Sandbox, "), "\(text)")
    #expect(text.contains("\n*"), "the fields that differ are marked: \(text)")
  }

  // MARK: rollout.md

  /// Every step by its evidence, none by force.
  private func rollOut(_ site: Site, _ service: RunningProgram) async throws {
    try await giveEvidence(site.database)
    let (file, receipt) = (site.secretFile(of: Self.rollout), try site.receipt(of: Self.rollout))
    let answer = try await site.program.run("api", "verify-receipt", receipt, "--app", Self.rollout, "--json")
    let purchases = try JSONReader.read(Array(answer.output.utf8)).object?["receipt"]?.object?["in_app"]?.array
    let tester = try #require(purchases?.first?.object?["original_transaction_id"]?.string, "\(answer)")
    let values = [
      "APP": Self.rollout, "ENVIRONMENT": "Sandbox", "SECRET_FILE": file, "RECEIPT": receipt, "TESTER": tester,
      "CALL": service.url + "/sandbox/verifyReceipt",
    ]
    let printed = try await site.type("rollout", values) {
      $0.contains("# once for each of 1, 5, 25, 50 and 100%, live, and complete") ? 7 : 1
    }
    let all = printed.joined()
    for step in [
      "record to shadow", "shadow to ramp 1 %", "ramp 1 % to ramp 5 %", "ramp 5 % to ramp 25 %",
      "ramp 25 % to ramp 50 %", "ramp 50 % to ramp 100 %", "ramp 100 % to live", "live to complete",
      "complete to live", "live to shadow",
    ] {
      #expect(all.contains("\(Self.rollout) Sandbox: \(step)\n"), "\(step): \(all)")
    }
    #expect(!all.contains("forced"))
    #expect(all.contains("would: \(Self.rollout) Sandbox: shadow to ramp 1 %\n"), "nothing is missing")
    let answers = all.lowercased().split(whereSeparator: \.isNewline).filter { $0.hasPrefix("switchyard-answered-by:") }
    let isOurs = answers.map { !$0.contains("apple") }
    let ours = Array(repeating: true, count: 7)
    #expect(isOurs == [false] + ours + [false], "in shadow, in each later step and after the kill: \(answers)")
    #expect(all.contains("SAME"), "Apple's response and Switchyard's")
    #expect(all.contains("1 added, 0 removed, 1 in the cohort"))
    for (app, secret) in site.apple.secrets { #expect(!all.contains(secret), "\(app)") }
  }

  /// Evidence that takes days: complete notifications, and a thousand customers who were compared without a difference.
  ///
  /// Compared in an hour: so they count as compared since each of the steps.
  private func giveEvidence(_ database: TestDatabase) async throws {
    let now = WallClock.system.now()
    try await database.execute(
      """
      INSERT INTO comparisons (app, environment, window_start, customer, receipt, compared_at, epoch, cause, counts,
        differences)
      SELECT id, 2, 1, UNHEX(MD5(seq)), UNHEX(MD5(seq)), \(now + .hours(1)), 1, 'equal', 0, ''
      FROM apps JOIN seq_1_to_1000 WHERE bundle_id = \(Self.rollout)
      """)
    for day in 0..<4 {
      let start = (now.sinceEpoch / 86_400_000 - Int64(day)) * 86_400_000
      try await database.execute(
        """
        INSERT INTO completeness (app, environment, measure, day, expected, arrived, recovered, refused, measured_at)
        SELECT id, 2, 1, \(start), 10, 10, 0, 0, \(now + .days(1)) FROM apps WHERE bundle_id = \(Self.rollout)
        """)
    }
  }
}
