import Database
import Glibc
import JSON
import Runtime
import Support
import Testing
import Time

/// runbooks/rollout.md, typed word for word against a simulated App Store: every step by its evidence, none by force.
@Suite struct `The runbook of a rollout` {
  private static let app = "com.example.rollout"

  @Test func `takes an app from record to complete and back, as it is written`() async throws {
    let database = try await TestDatabase.migrated()
    let world = ["--customers", "12", "--history", "60", "--seed", "11", "--app", Self.app]
    try await RunningSimulator.with(world, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_URL"] = apple.url + "/verifyReceipt"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_SANDBOX_URL"] = apple.url + "/sandbox/verifyReceipt"
      program.environment.merge(apple.environment) { $1 }
      let secret = try #require(apple.world["apps"]?.array?.first?.object?["sharedSecret"]?.string)
      let file = database.place.file("secret.txt", Array((secret + "\n").utf8))
      let receipt = database.place.file("receipt.b64", try apple.longestReceipt())
      // Connected before, as the page says.
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      #expect(try await program.run("app", "secret", Self.app, "--file", file).status == 0)
      try await giveEvidence(database)
      let tester = try await Self.tester(receipt, program)
      let service = try await RunningProgram.serve(
        program,
        ["--trust-root", apple.root, "--trust-root", "\(apple.directory)/receipt-root.der"]
          + ["--reconcile-every", "0", "--heartbeat-every", "0"])
      let typed: Result<[String], any Error>
      do {
        let values = [
          "APP": Self.app, "ENVIRONMENT": "Sandbox", "SECRET_FILE": file, "RECEIPT": receipt, "TESTER": tester,
          "CALL": service.url + "/sandbox/verifyReceipt",
        ]
        let printed = try await Runbook("rollout").type(
          values, program, in: database.place.path, within: .minutes(10)
        ) { $0.contains("# Once for each of 5, 25, 50 and 100 %.") ? 4 : 1 }
        typed = .success(printed)
      } catch { typed = .failure(error) }
      await service.end(SIGTERM)
      #expect(!service.notes.contains(secret))
      try expect(try typed.get(), secret)
    }
  }

  /// What takes days: complete notifications, and a thousand customers who were compared without a difference.
  ///
  /// Compared in an hour: so they count as compared since each of the steps.
  private func giveEvidence(_ database: TestDatabase) async throws {
    let now = WallClock.system.now()
    let digit: SQL = """
      (SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
        UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)
      """
    try await database.execute(
      """
      INSERT INTO comparisons (app, environment, window_start, customer, receipt, compared_at, epoch, cause, counts,
        differences)
      SELECT apps.id, 2, 1, UNHEX(MD5(CONCAT(a.d, b.d, c.d))), UNHEX(MD5(CONCAT(a.d, b.d, c.d))), \(now + .hours(1)), 1,
        'equal', 0, '' FROM apps JOIN \(digit) AS a JOIN \(digit) AS b JOIN \(digit) AS c
      """)
    for day in 0..<4 {
      let start = (now.sinceEpoch / 86_400_000 - Int64(day)) * 86_400_000
      try await database.execute(
        """
        INSERT INTO completeness (app, environment, measure, day, expected, arrived, recovered, refused, measured_at)
        SELECT id, 2, 1, \(start), 10, 10, 0, 0, \(now + .days(1)) FROM apps
        """)
    }
  }

  /// An originalTransactionId of the receipt.
  private static func tester(_ receipt: String, _ program: Program) async throws -> String {
    let answer = try await program.run("api", "verify-receipt", receipt, "--app", app, "--json")
    let purchases = try JSONReader.read(Array(answer.output.utf8)).object?["receipt"]?.object?["in_app"]?.array
    return try #require(purchases?.first?.object?["original_transaction_id"]?.string, "\(answer)")
  }

  private func expect(_ printed: [String], _ secret: String) throws {
    let all = printed.joined()
    for step in [
      "record to shadow", "shadow to ramp 1 %", "ramp 1 % to ramp 5 %", "ramp 5 % to ramp 25 %",
      "ramp 25 % to ramp 50 %",
      "ramp 50 % to ramp 100 %", "ramp 100 % to live", "live to complete", "complete to live", "live to shadow",
      "shadow to record",
    ] {
      #expect(all.contains("\(Self.app) Sandbox: \(step)\n"), "\(step): \(all)")
    }
    #expect(!all.contains("forced") && !all.contains(secret))
    #expect(all.contains("would: \(Self.app) Sandbox: shadow to ramp 1 %\n"), "nothing is missing")
    let answers = all.lowercased().split(whereSeparator: \.isNewline).filter { $0.hasPrefix("switchyard-answered-by:") }
    let isOurs = answers.map { !$0.contains("apple") }
    #expect(
      isOurs == [false, true, true, true, false], "in shadow, ramp, live, complete and after the kill: \(answers)")
    #expect(all.contains("1 added, 0 removed, 1 in the cohort") && all.contains("0 added, 1 removed, 0 in the cohort"))
  }
}
