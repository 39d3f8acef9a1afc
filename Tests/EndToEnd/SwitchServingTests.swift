import Glibc
import HTTPClient
import JSON
import Support
import Testing
import Time

/// The switch with a service that runs: compared, looked at, rehearsed.
@Suite struct `The switch while it serves` {
  private static let app = "com.example.switch"

  @Test func `compares in shadow, shows the differences, and measures a rollback`() async throws {
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
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      #expect(try await program.run("app", "secret", Self.app, "--file", file).status == 0)
      let service = try await RunningProgram.serve(
        program,
        ["--trust-root", apple.root, "--trust-root", "\(apple.directory)/receipt-root.der"]
          + ["--reconcile-every", "0", "--heartbeat-every", "0"])
      let client = HTTPClient()
      let result: Result<Void, any Error>
      do { result = .success(try await use(program, service, apple, secret, client)) } catch {
        result = .failure(error)
      }
      await client.shutdown()
      await service.end(SIGTERM)
      #expect(!service.notes.contains(secret))
      try result.get()
      let status = try await program.run("rollout", "status", Self.app)
      #expect(status.notes.contains("No service has reported"), "a service that stops is not counted: \(status)")
    }
  }

  private func use(
    _ program: Program, _ service: RunningProgram, _ apple: RunningSimulator, _ secret: String, _ client: HTTPClient
  ) async throws {
    let sandbox = ["--environment", "Sandbox"]
    let shadow = try await program.run(["rollout", "set", Self.app, "shadow", "--reason", "look"] + sandbox)
    #expect(shadow.status == 0, "\(shadow)")
    // At the start it may not have reported yet, and a busy machine may take longer than a command waits.
    let isFollowed = try await eventually(within: .seconds(120)) {
      try await program.run(["rollout", "kill", Self.app] + sandbox).notes.contains("1 service follows")
    }
    #expect(isFollowed)
    // The drill waits until the service works by the change, and leaves the stage as it was.
    let drill = try await program.run(["rollout", "drill", Self.app, "--json"] + sandbox)
    #expect(drill.status == 0, "\(drill)")
    let measured = try #require(try drill.objects.first)
    #expect(measured["processes"] == 1 && measured["stage"] == "shadow", "\(measured)")
    #expect(
      try await program.run("rollout", "show", Self.app, "--json").objects.map { $0["stage"] } == ["record", "shadow"])

    let rows = Program.text("\(apple.directory)/receipts.csv").split(separator: "\n").dropFirst()
    let receipts = rows.compactMap { $0.split(separator: ",").last.map(String.init) }
    for receipt in receipts {
      let body: JSONObject = ["receipt-data": .string(receipt), "password": .string(secret)]
      let answer = try await client.send(
        ClientRequest(
          method: "POST", url: service.url + "/sandbox/verifyReceipt", body: body.encoded(), deadline: .seconds(90),
          responseLimit: 8 << 20))
      #expect(answer.status == 200 && answer.headers["Switchyard-Answered-By"] == "apple")
    }
    // Nobody was known when they first asked: what we would have said lacks what Apple said.
    let isListed = try await eventually(within: .seconds(120)) {
      try await !program.run("compare", "list", "--app", Self.app, "--json").objects.isEmpty
    }
    #expect(isListed)
    let lines = try await program.run("compare", "list", "--app", Self.app, "--json").objects
    for line in lines {
      for key in ["path", "cause", "theirs", "ours", "impact"] { #expect(line[key] != nil, "\(line)") }
    }
    let causes = Set(lines.compactMap { $0["cause"]?.string })
    #expect(causes.isSubset(of: ["incomplete", "legacyQuirk", "timing"]), "\(causes)")
    let id = try #require(lines.first?["comparison"]?.integer)
    let shown = try await program.run("compare", "show", "\(id)", "--json")
    let document = try #require(try shown.objects.first)
    #expect(document["theirs"]?.object?["status"] == 0 && document["ours"]?.object != nil, "\(shown)")
    let text = try await program.run("compare", "show", "\(id)", "--all").output
    #expect(text.hasPrefix("\(Self.app) Sandbox, ") && text.contains("customer: "), "\(text)")
    #expect(text.contains("receipt.bundle_id") && text.contains("\n*"), "the fields that differ are marked: \(text)")
    let replay = try await program.run("compare", "replay", "--app", Self.app, "--json")
    let replayed = try replay.objects
    #expect([0, 5].contains(replay.status) && !replayed.isEmpty, "\(replay)")
    let refused = try await program.run(["rollout", "advance", Self.app, "--json"] + sandbox)
    let missing = (try refused.objects.first?["missing"]?.array ?? []).compactMap { $0.object?["evidence"]?.string }
    #expect(refused.status == 4 && missing.contains("comparisons"), "\(refused)")
    #expect(
      !missing.contains("drill") && !missing.contains("apiKey") && !missing.contains("sharedSecret"), "\(missing)")
  }
}
