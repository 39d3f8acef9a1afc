@testable import switchyard

@Suite struct `switchyard doctor --public` {
  private func levels(_ outcome: Program.Outcome) throws -> [String: String] {
    let checks = try outcome.objects.first?["checks"]?.array ?? []
    return checks.compactMap(\.object).reduce(into: [:]) {
      $0[$1["name"]?.string ?? ""] = $1["level"]?.string
    }
  }

  @Test func `finds a service that asks everybody for a token, and says that it was asked over loopback`() async throws
  {
    let database = try await TestDatabase.migrated()
    let running = try await RunningProgram.inProcess(database.program)
    let outcome = try await database.program.run("doctor", "--public", running.url, "--json")
    #expect(outcome.status == 0, "\(outcome)")
    let expected = ["notifications": "warn", "public": "warn", "customers": "ok", "evidence": "ok"]
    #expect(try levels(outcome) == expected, "\(outcome)")
    #expect(try await database.rows("SELECT 1 FROM quarantine").isEmpty, "nothing is kept")
    #expect(await running.end(SIGTERM) == 0)
  }

  @Test func `finds one that takes notifications from Apple alone`() async throws {
    let database = try await TestDatabase.migrated()
    let running = try await RunningProgram.inProcess(database.program, ["--allow-from", "apple"])
    let outcome = try await database.program.run("doctor", "--public", running.url, "--json")
    #expect(try levels(outcome)["notifications"] == "ok", "\(outcome)")
    #expect(await running.end(SIGTERM) == 0)
  }

  /// It cannot know on which port another listener is: `serve` warns.
  @Test(arguments: [("0.0.0.0:0", true), ("127.0.0.1:0", false)])
  func `is not needed to be told of metrics that other machines can read`(address: String, warns: Bool) async throws {
    let database = try await TestDatabase.migrated()
    let running = try await RunningProgram.inProcess(database.program, ["--metrics-listen", address])
    #expect(running.notes.contains("metrics are served to other machines in plain HTTP") == warns, "\(running.notes)")
    #expect(await running.end(SIGTERM) == 0)
  }

  @Test func `fails where nobody answers, and wants a URL`() async throws {
    let place = TemporaryDirectory()
    let program = Program(options: ["--data-dir", place.path])
    let outcome = try await program.run("doctor", "--public", "http://127.0.0.1:1")
    #expect(outcome.status == 1 && outcome.output.contains("does not answer"), "\(outcome)")
    #expect(try await program.run("doctor", "--public", "example.com").status == 2)
    #expect(try await program.run("doctor", "http://127.0.0.1:1").status == 2)
  }

  @Test func `tells what strangers may see from what they may not`() {
    func answer(_ status: Int?) -> PublicChecks.Answer { PublicChecks.Answer(status: status, reason: "\(status ?? 0)") }
    #expect(PublicChecks.transport("http://switchyard.example.com").level == .fail)
    #expect(PublicChecks.transport("https://switchyard.example.com").level == .ok)
    #expect(PublicChecks.metrics(answer(200)).level == .fail && PublicChecks.metrics(answer(404)).level == .ok)
    #expect(PublicChecks.notifications(answer(403)).level == .ok)
    for status in [200, 400, 404, 502] {
      #expect(PublicChecks.notifications(answer(status)).level == .warn, "\(status)")
    }
    #expect(PublicChecks.closed("x", [answer(401), answer(403)]).level == .ok)
    for status in [nil, 200, 500] { #expect(PublicChecks.closed("x", [answer(401), answer(status)]).level == .fail) }
  }
}
