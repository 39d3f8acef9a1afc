/// `switchyard seeds`, typed against a simulated App Store.
@Suite struct `switchyard seeds` {
  private static let app = "com.example.seeds"
  private static let nobody = "999999999999999"

  /// A ledger whose app has no key yet and knows two customers and an id of nobody's, by their ids alone.
  private func seeded(_ simulator: RunningSimulator) async throws -> (database: TestDatabase, ids: [String]) {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", Self.app)
    let token = try await database.program.run("app", "token", Self.app).output.dropLast()
    var ids: [String: String] = [:]
    for line in try await simulator.purchases(of: Self.app) {
      let transaction = line["transaction"]?.object
      guard transaction?["inAppOwnershipType"] == "PURCHASED" else { continue }
      ids[line["customer"]?.string ?? ""] = transaction?["originalTransactionId"]?.string
    }
    let chosen = Array(ids.sorted { $0.key < $1.key }.map(\.value).prefix(2))
    try #require(chosen.count == 2)
    let service = try await RunningProgram.inProcess(
      database.program, ["--reconcile-every", "0", "--heartbeat-every", "0", "--base-url", simulator.url])
    let client = HTTPClient()
    for id in chosen + [Self.nobody] {
      let answer = try await client.send(
        ClientRequest(
          method: "POST", url: "\(service.url)/v1/evidence", headers: [("Authorization", "Bearer \(token)")],
          body: (["transactionId": .string(id)] as JSONObject).encoded()))
      #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    }
    await client.shutdown()
    #expect(await service.end(SIGTERM) == 0)
    return (database, chosen)
  }

  private func states(_ program: Program) async throws -> [String: Int64] {
    let counts = try await program.run("seeds", "status", Self.app, "--json").objects.filter { $0["state"] != nil }
    return Dictionary(counts.map { ($0["state"]?.string ?? "", $0["ids"]?.integer ?? 0) }) { $0 + $1 }
  }

  @Test func `asks for every id once there is a key, tells what became of each, and asks anew`() async throws {
    let place = TemporaryDirectory()
    try await RunningSimulator.with(["--customers", "6", "--seed", "5", "--app", Self.app], in: place) { apple in
      let (database, ids) = try await seeded(apple)
      var program = database.program
      program.environment.merge(apple.environment) { $1 }
      let run = ["seeds", "run", "--trust-root", apple.root, "--json"]

      #expect(try await states(program) == ["waiting": 3])
      let waiting = try await program.run("seeds", "status", Self.app, "--ids")
      #expect(waiting.output.contains(ids[0]) && waiting.output.contains("waiting"), "\(waiting)")
      let keyless = try await program.run(run)
      #expect(keyless.status == 1 && keyless.notes.contains("--key-file"), "\(keyless)")
      #expect(try await program.run("doctor").output.contains("3 ids of \(Self.app) wait for a key"))

      _ = try await program.run(["app", "add", Self.app] + apple.key)
      let asked = try await program.run(run)
      #expect(asked.status == 0, "\(asked)")
      #expect(try asked.objects == [["customers": 3, "idsLeft": 0]])
      #expect(try await states(program) == ["done": 2, "unknown": 1])
      for id in ids { #expect(try await program.run("explain", Self.app, id).status == 0) }
      let unknown = try await program.run("seeds", "status", Self.app, "--ids", "--state", "unknown", "--json").objects
      #expect(unknown.map { $0["id"] } == [.string(Self.nobody)])
      #expect(unknown.first?["reason"]?.string?.contains("Apple knows no such id") == true)
      #expect(try await program.run(run).objects == [["customers": 0, "idsLeft": 0]], "nothing is due")

      let tried = try await program.run("seeds", "retry", Self.app, "--dry-run", "--json")
      #expect(try tried.objects == [["ids": 1, "dryRun": true]], "\(tried)")
      #expect(try await states(program)["unknown"] == 1)
      #expect(try await program.run("seeds", "retry", Self.app).output == "1 ids to be asked about\n")
      #expect(try await states(program) == ["done": 2, "waiting": 1])
      let audit = try await database.rows("SELECT reason FROM audit WHERE action = 'seeds.retry'")
      #expect(try audit.map { try $0.text("reason") } == ["1 ids"])

      // Apple says later: the rest waits, and whoever counts on the exit status hears of it.
      try await apple.control("fault", "fault=rateLimited", "on=api", "value=3600000", "times=null")
      let limited = try await program.run(run)
      #expect(limited.status == 3, "\(limited)")
      #expect(try limited.objects == [["customers": 1, "idsLeft": 1]])
      let status = try await program.run("seeds", "status", Self.app)
      #expect(status.notes.contains("Production: at most 3") && status.notes.contains("blocked"), "\(status)")
      let left = try await program.run("seeds", "status", Self.app, "--json").objects
      let blocked = left.first { $0["environment"] == "Production" && $0["because"] != nil }
      #expect((3_000...3_600).contains(blocked?["secondsLeftAtMost"]?.integer ?? 0), "\(left)")
    }
  }

  @Test func `asks nobody under another master key, and loses no id over it`() async throws {
    let place = TemporaryDirectory()
    try await RunningSimulator.with(["--customers", "4", "--seed", "5", "--app", Self.app], in: place) { apple in
      let (database, _) = try await seeded(apple)
      var program = database.program
      program.environment.merge(apple.environment) { $1 }
      _ = try await program.run(["app", "add", Self.app] + apple.key)
      let other = place.file("other.key", Array(String(repeating: "cd", count: 32).utf8))
      let run = ["seeds", "run", "--trust-root", apple.root]
      let outcome = try await program.process(run + ["--master-key-file", other])
      #expect(outcome.status == 1 && outcome.notes.contains("is sealed under the master key"), "\(outcome)")
      let doctor = try await program.run("doctor", "--master-key-file", other)
      #expect(doctor.status == 1 && doctor.output.contains("sealed under the master key"), "\(doctor)")
      #expect(try await program.run(run).status == 0)
      #expect(try await !program.run("doctor").output.contains("does not open"))
    }
  }

  @Test(
    arguments: [
      (["retry", app, "--state", "done"], Int32(2), "not asked about again"),
      (["status", app, "--ids", "--limit", "0"], 2, "from 1 to 1000"),
      (["status", app, "--state", "lost"], 2, "waiting, done"),
      (["status", app, "--state", "done"], 2, "for --ids"),
      (["status", app], 1, "not registered"),
      (["retry", app, "--dry-run"], 1, "not registered"), (["run", "--once"], 1, "no key is registered"),
    ] as [([String], Int32, String)])
  func `refuses what it cannot do`(arguments: [String], status: Int32, words: String) async throws {
    let database = try await TestDatabase.migrated()
    let outcome = try await database.program.run(["seeds"] + arguments)
    #expect(outcome.status == status && outcome.notes.contains(words), "\(outcome)")
    #expect(outcome.output == "")
  }
}
