@Suite struct `switchyard simulate --port` {
  private static func objects(_ path: String) throws -> [JSONObject] {
    try Program.text(path).split(separator: "\n").compactMap { try JSONReader.read(Array($0.utf8)).object }
  }

  @Test func `tells of the same customers as a world in files`() async throws {
    let place = TemporaryDirectory()
    let same = [
      "--seed", "4", "--customers", "40", "--app", "com.example.one", "--app", "com.example.two", "--as-of",
      "1770000000000", "--environment", "production",
    ]
    let made = try await Program().run(["simulate", "--generate", "--out", "\(place.path)/files"] + same)
    #expect(made.status == 0, "\(made.notes)")
    try await RunningSimulator.with(same, in: place) { simulator in
      let truth = try Self.objects("\(simulator.directory)/truth.jsonl")
      #expect(truth.contains { $0["kind"] == "purchase" && $0["environment"] == "Production" })
      #expect(truth == (try Self.objects("\(place.path)/files/truth.jsonl")))
      let (served, written) = try await (
        Self.extract("\(simulator.directory)"), Self.extract("\(place.path)/files")
      )
      #expect(served.count > 20 && served == written)
    }
  }

  /// What every receipt of a world says; its signatures are others in each.
  private static func extract(_ world: String) async throws -> [JSONObject] {
    let run = try await Program().run("extract", "--root", "\(world)/receipt-root.der", "\(world)/receipts.csv")
    #expect(run.status == 0, "\(run.notes)")
    return try run.objects
  }

  @Test func `keeps a world's keys, port and clock for the next start`() async throws {
    let place = TemporaryDirectory()
    let same = ["--seed", "4", "--customers", "6", "--app", "com.example.one", "--keep"]
    func key(_ simulator: RunningSimulator) -> String { Program.text(simulator.word("keyFile")) }
    let first = try await RunningSimulator.with(same, in: place, isProcess: true) { simulator in
      try await simulator.control("advance", "days=30")
      return (simulator.world, key(simulator))
    }
    let other = try await Program().run(
      ["simulate", "--port", "0", "--out", "\(place.path)/world", "--keep", "--seed", "5"])
    #expect(other.status == 2, "another world is not put in its place: \(other.notes)")
    try await RunningSimulator.with(same, in: place, isProcess: true) { simulator in
      for name in ["rootDER", "receiptRootDER", "baseURL", "keyId", "apps"] {
        #expect(simulator.world[name] == first.0[name], "\(name)")
      }
      #expect(key(simulator) == first.1)
      let days = (simulator.world["asOf"]?.integer ?? 0) - (first.0["asOf"]?.integer ?? 0)
      #expect(days == 30 * 86_400_000)
      let receipts = try await Program().run(
        "extract", "--root", "\(simulator.directory)/receipt-root.der", "\(simulator.directory)/receipts.csv")
      #expect(receipts.status == 0)
    }
  }

  @Test func `writes the world, answers Apple's clients and obeys`() async throws {
    let place = TemporaryDirectory()
    let words = ["--seed", "3", "--customers", "8", "--app", "com.example.one", "--app", "com.example.two"]
    try await RunningSimulator.with(words, in: place) { _ in try await check(place) }
  }

  private func check(_ place: TemporaryDirectory) async throws {
    let world = try #require(try JSONReader.read(Array(Program.text("\(place.path)/world/world.json").utf8)).object)
    for key in ["baseURL", "issuerId", "keyId", "keyFile", "rootDER", "receiptRootDER", "apps"] {
      #expect(world[key] != nil, "\(key)")
    }
    let apps = try #require(world["apps"]?.array).compactMap(\.object)
    #expect(apps.map { $0["bundleId"]?.string } == ["com.example.one", "com.example.two"])
    #expect(apps.allSatisfy { $0["sharedSecret"]?.string?.utf8.count == 32 && $0["appAppleId"]?.integer != nil })
    let lines = try Program.text("\(place.path)/world/truth.jsonl").split(separator: "\n").compactMap {
      try JSONReader.read(Array($0.utf8)).object
    }
    let purchase = try #require(lines.first { $0["kind"] == "purchase" })
    let bundleID = try #require(purchase["app"]?.string)
    let transaction = try #require(purchase["transaction"]?.object?["transactionId"]?.string)
    let key = DeveloperKey(
      issuerID: try #require(world["issuerId"]?.string), keyID: try #require(world["keyId"]?.string),
      signingKey: try SigningKey(pem: Array(Program.text(try #require(world["keyFile"]?.string)).utf8)))
    let client = HTTPClient()
    let base = try #require(world["baseURL"]?.string)
    let answer = try await client.send(
      ClientRequest(
        url: "\(base)/inApps/v1/transactions/\(transaction)",
        headers: [("Authorization", "Bearer \(try key.token(for: bundleID, at: WallClock.system.now()))")]))
    #expect(answer.status == 200)
    await client.shutdown()
    let advanced = try await Program().run("simulate", "control", "--out", "\(place.path)/world", "advance", "days=3")
    #expect(advanced.status == 0)
    let now = try advanced.objects[0]["now"]?.integer
    #expect(now == world["asOf"]?.integer.map { $0 + 3 * 86_400_000 })
    let refused = try await Program().run(
      "simulate", "control", "--out", "\(place.path)/world", "fault", "fault=flood")
    #expect(refused.status == 1)
    #expect(refused.output.contains("rateLimited"), "it says which faults there are")
  }
}
