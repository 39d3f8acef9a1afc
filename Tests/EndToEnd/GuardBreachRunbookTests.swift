import Database
import Glibc
import JSON
import Runtime
import Support
import Testing
import Time

/// runbooks/guard-breach.md, typed word for word, after the guard of a service took an app back and a notification was lost.
@Suite struct `The runbook of a breach` {
  private static let app = "com.example.breached"

  @Test func `shows whom it concerned, what is missing, and what the next step needs`() async throws {
    let database = try await TestDatabase.migrated()
    let now = WallClock.system.now()
    let world = [
      "--seed", "5", "--customers", "12", "--history", "60", "--app", Self.app, "--as-of",
      "\((now - .days(1)).sinceEpoch)",
    ]
    try await RunningSimulator.with(world, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = database.place.path + "/data"
      program.environment.merge(apple.environment) { $1 }
      try await loseRefund(apple, until: now)
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      let set = try await program.run(
        "rollout", "set", Self.app, "ramp", "--percent", "50", "--environment", "Sandbox", "--force", "--reason",
        "test")
      #expect(set.status == 0, "\(set)")
      try await database.addComparisons(120, affected: 6, in: 2)
      try await expectMissing(program, apple)
      let service = try await RunningProgram.serve(program, ["--reconcile-every", "0", "--heartbeat-every", "0"])
      let typed: Result<[String], any Error>
      do { typed = .success(try await type(service, program, database, apple)) } catch { typed = .failure(error) }
      let status = await service.end(SIGTERM)
      let texts = try typed.get()
      #expect(texts[0].contains("shadow") && texts[0].contains("rollout.guard"), "\(texts[0])")
      #expect(texts[1].contains("ourDefect"), "\(texts[1])")
      #expect(texts[2].contains("TO TAKE IN") && texts[2].contains("Sandbox"), "\(texts[2])")
      #expect(texts.last?.contains("is not proven yet") == true, "\(texts)")
      #expect(status == 0, "\(service.notes)")
      try await expectNoneMissingOnceTakenIn(program, apple)
    }
  }

  /// Apple refunds a purchase, and nobody hears of it.
  private func loseRefund(_ apple: RunningSimulator, until now: Milliseconds) async throws {
    try await apple.control(
      "destination", "bundleId=\(Self.app)", "environment=Sandbox", "url=http://127.0.0.1:1/none", "version=2")
    let bought = try #require(
      try await apple.purchases(of: Self.app).compactMap { $0["transaction"]?.object }.last {
        $0["inAppOwnershipType"] == "PURCHASED" && $0["revocationDate"] == nil
      })
    try await apple.control(
      "act", "act=refund", "transactionId=\(bought["transactionId"]?.string ?? "")", "bundleId=\(Self.app)",
      "environment=Sandbox")
    try await apple.control("advance", "to=\(now.sinceEpoch)")
  }

  private func reconcile(
    _ words: [String], _ program: Program, _ apple: RunningSimulator
  ) async throws -> (status: Int32, takenIn: Int64) {
    let all = ["reconcile", Self.app, "--environment", "Sandbox", "--trust-root", apple.root, "--json"] + words
    let outcome = try await program.run(all)
    let report = try #require(try outcome.objects.first, "\(outcome)")
    let takenIn = try #require(report["takenIn"]?.integer, "\(outcome)")
    return (outcome.status, takenIn)
  }

  /// Step 3 ends with exit status 3.
  private func expectMissing(_ program: Program, _ apple: RunningSimulator) async throws {
    let dry = try await reconcile(["--since", "3", "--dry-run"], program, apple)
    #expect(dry.status == 3 && dry.takenIn > 0, "\(dry)")
  }

  /// As step 5 says: it is taken in, and then nothing is missing.
  private func expectNoneMissingOnceTakenIn(_ program: Program, _ apple: RunningSimulator) async throws {
    let taken = try await reconcile([], program, apple)
    #expect(taken.status == 0 && taken.takenIn > 0, "\(taken)")
    let dry = try await reconcile(["--since", "3", "--dry-run"], program, apple)
    #expect(dry.status == 0 && dry.takenIn == 0, "\(dry)")
  }

  /// Types the runbook once the guard has taken the app back.
  private func type(
    _ service: RunningProgram, _ program: Program, _ database: TestDatabase, _ apple: RunningSimulator
  ) async throws -> [String] {
    let isBack = try await eventually {
      try await database.rows("SELECT 1 FROM flags WHERE stage = 'shadow' AND environment = 2").count == 1
    }
    #expect(isBack, "\(service.notes)")
    let isLogged = await eventually { service.notes.contains("the guard took an app back to shadow") }
    #expect(isLogged, "\(service.notes)")
    // The simulator's signatures count beside Apple's.
    let trust = """
      switchyard() {
        case "$1" in
          reconcile) command switchyard "$@" --trust-root '\(apple.root)' ;;
          *) command switchyard "$@" ;;
        esac
      }
      """
    return try await Runbook("guard-breach").type(
      ["APP": Self.app, "ENVIRONMENT": "Sandbox"], program, in: database.place.path, after: trust)
  }
}
