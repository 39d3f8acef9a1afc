/// A simulated App Store, a ledger with its key, and Apple told over HTTP: all but the clock is real.
private struct ReportBench: Sendable {
  static let app = "com.example.reported"
  static let start = Timestamp(1_767_600_000_000)
  static let answer: JSONObject = [
    "customerConsented": true, "consumptionPercentage": 12_500, "deliveryStatus": "UNDELIVERED_SERVER_OUTAGE",
    "refundPreference": "GRANT_PRORATED", "sampleContentProvided": true,
  ]
  private static let receiptPKI = ReceiptPKI.known(at: start)

  let apple: RunningAppStore
  let configuration: DatabaseConfiguration
  let pool: Pool
  let app: App
  let clock: SteppedClock
  let keys: Keyring
  private let http: HTTPClient

  static func with(_ body: @Sendable (ReportBench) async throws -> Void) async throws {
    var plan = AppPlan.sample(app)
    plan.customers = 12
    plan.arrival = .days(20)
    plan.habits = .lively
    plan.habits.buysOnce = 600
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 3, start: start - .days(60))
    world.advance(to: start)
    let clock = SteppedClock(at: start)
    var settings = RunningAppStore.Settings()
    settings.receiptPKI = receiptPKI
    settings.namesResponder = false
    let apple = try RunningAppStore.start(world, settings, clock: clock.clock)
    let configuration = try await PrivateMariaDB.shared.database()
    let (pool, keys) = (Pool(configuration), Keyring.ofTests)
    let key = apple.store.identity.key
    let pem = try key.signingKey.pem()
    let app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: start, in: session)
      let app = try AppTable.add(bundleID: Self.app, appAppleID: nil, at: start, in: session)
      try CredentialTable.put(
        pem, kind: .apiKey, name: key.keyID, issuer: key.issuerID, of: app, sealedWith: keys, at: start, in: session)
      try ConsumptionPolicyTable.set(.fixed(answer), of: app, at: start, in: session)
      return app
    }
    let bench = ReportBench(
      apple: apple, configuration: configuration, pool: pool, app: app, clock: clock, keys: keys, http: HTTPClient())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await body(bench)) } catch { outcome = .failure(error) }
      await bench.http.shutdown()
      await pool.close()
      group.cancelAll()
      try await group.waitForAll()
      try outcome.get()
    }
  }

  /// The ids of purchases that were paid for by who has them, of one type or of all.
  func bought(_ type: String? = nil) -> [String] {
    apple.world.truth().compactMap { line in
      guard let transaction = line["transaction"]?.object, transaction["inAppOwnershipType"] == "PURCHASED",
        type == nil || transaction["type"]?.string == type
      else { return nil }
      return transaction["transactionId"]?.string
    }
  }

  /// A client as each process has one, which never waits for itself.
  func client(_ pool: Pool) -> AppStoreClient {
    let timing = CallTimeSource(clock: clock.clock) { _ in }
    let gate = RateLimiter(
      store: InMemoryRateLimitStore().member("test"), timing: timing,
      bounds: { _ in RateBounds(start: 1e6, most: 1e6, burst: 1_000_000) })
    return AppStoreClient(
      http: http, hosts: AppStoreHosts(simulator: apple.productionURL), gate: gate, timing: timing)
  }

  /// What one process does about the requests.
  func answers(_ pool: Pool? = nil, metrics: MetricsRegistry = MetricsRegistry()) -> ConsumptionResponder {
    let pool = pool ?? self.pool
    return ConsumptionResponder(
      pool: pool, keys: keys, asking: http,
      telling: ConsumptionReport(client: client(pool), pool: pool, keys: keys), metrics: metrics, clock: clock.clock,
      logger: Logger(label: "test", level: .debug, handler: RecordingLogHandler()))
  }

  /// Apple asks about a purchase.
  func ask(_ id: String) async throws {
    let message = InboxMessage(kind: .notification, body: Array("ask \(id)".utf8), receivedAt: Self.start)
    var findings = Findings(app: Self.app, environment: .sandbox)
    findings.events = [
      Event(
        app: Self.app, environment: .sandbox, notificationUUID: "uuid-\(id)", notificationType: "CONSUMPTION_REQUEST",
        subtype: nil, originalTransactionID: id, transactionID: id, line: nil, date: Self.start, source: .signedV2,
        rank: Rank(asOf: Self.start, tieBreak: [UInt8](repeating: 0, count: 16)), details: [:],
        message: message.digest.bytes, rule: "N-029")
    ]
    let acceptance = LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: Self.start, title: "asked")
    _ = try await LedgerStore(pool: pool).append([LedgerEntry(message, .accepted(acceptance))])
  }

  func cases() async throws -> [ConsumptionRequestRecord] {
    try await pool.read { session throws(DatabaseError) in try ConsumptionTable.newest(limit: 100, in: session) }
  }

  func control(_ method: String, _ path: String, _ body: JSONObject? = nil) async throws -> JSONObject {
    let answer = try await http.send(
      ClientRequest(method: method, url: "\(apple.controlURL)/\(path)", body: body?.encoded() ?? []))
    try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    return try #require(try JSONReader.read(answer.body).object)
  }

  /// What Apple was told, by purchase.
  func told() async throws -> [String: [JSONValue?]] {
    let all = try await control("GET", "consumption")["consumption"]?.array ?? []
    return Dictionary(grouping: all.compactMap(\.object)) { $0["transactionId"]?.string ?? "" }
      .mapValues { $0.map { $0["request"] } }
  }
}

@Suite struct `A report of consumption` {
  @Test func `says to Apple exactly what the policy says, once`() async throws {
    try await ReportBench.with { bench in
      let id = try #require(bench.bought().first)
      try await bench.ask(id)
      #expect(try await bench.answers().round() == 1)
      #expect(try await bench.answers().round() == 0)
      #expect(try await bench.told() == [id: [.object(ReportBench.answer)]])
      let found = try #require(try await bench.cases().first)
      #expect(found.state == .answered && found.answer == ReportBench.answer && found.settledAt == ReportBench.start)
    }
  }

  @Test func `is settled with Apple's number when Apple refuses it, and not sent again`() async throws {
    try await ReportBench.with { bench in
      try await bench.ask("700000000000001")
      try await bench.answers().round()
      let found = try #require(try await bench.cases().first)
      #expect(found.state == .refused)
      #expect(found.reason?.contains("4040010") == true, "\(found)")
      bench.clock.advance(by: .hours(1))
      #expect(try await bench.answers().round() == 0)
      #expect(try await bench.told() == [:])
    }
  }

  @Test func `is made again while Apple cannot hear, and taken in the last minute of 12 hours`() async throws {
    try await ReportBench.with { bench in
      let id = try #require(bench.bought().first)
      _ = try await bench.control("POST", "faults", ["fault": "serverError", "on": "api", "times": .null])
      try await bench.ask(id)
      let answers = bench.answers()
      while bench.clock.clock.now() < ReportBench.start + .minutes(719) {
        try await answers.round()
        bench.clock.advance(by: .minutes(1))
      }
      let waiting = try #require(try await bench.cases().first)
      #expect(waiting.state == .waiting && waiting.attempts > 5, "\(waiting)")
      #expect(waiting.reason?.contains("serverFailed") == true)
      #expect(try await bench.told() == [:])
      _ = try await bench.control("DELETE", "faults")
      // Put off to the end at the latest: an operator who sees it need not wait for that.
      _ = try await bench.pool.read { session throws(DatabaseError) in
        try session.execute("UPDATE consumption_requests SET due_at = \(ReportBench.start)")
      }
      try await answers.round()
      #expect(try await bench.cases().first?.state == .answered)
      #expect(try await bench.told()[id]?.count == 1)
    }
  }

  @Test func `is not made after 12 hours`() async throws {
    try await ReportBench.with { bench in
      let id = try #require(bench.bought().first)
      try await bench.ask(id)
      bench.clock.advance(by: .hours(12))
      let metrics = MetricsRegistry()
      try await bench.answers(metrics: metrics).round()
      #expect(try await bench.cases().first?.state == .expired)
      #expect(try await bench.told() == [:])
      let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
      #expect(text.contains("switchyard_consumption_requests_total{outcome=\"expired\"} 1"))
    }
  }

  @Test func `is made once for each request, by however many processes`() async throws {
    try await ReportBench.with { bench in
      let ids = Array(Set(bench.bought()).sorted().prefix(20))
      try #require(ids.count == 20)
      for id in ids { try await bench.ask(id) }
      let pools = (0..<2).map { _ in Pool(bench.configuration) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for pool in pools {
          let answers = bench.answers(pool)
          group.addTask { while try await answers.round() > 0 {} }
        }
        try await group.waitForAll()
      }
      for pool in pools { await pool.close() }
      #expect(try await bench.cases().allSatisfy { $0.state == .answered })
      #expect(
        try await bench.told() == Dictionary(uniqueKeysWithValues: ids.map { ($0, [.object(ReportBench.answer)]) }))
    }
  }

  @Test func `in the deprecated version takes other words, and consumables alone`() async throws {
    try await ReportBench.with { bench in
      let client = bench.client(bench.pool)
      let keys = bench.keys
      let askable = try await bench.pool.read { session throws(DatabaseError) in
        try AppWithAPIKey.all(with: keys, in: session).askable
      }
      let credentials = try #require(askable.first?.credentials)
      let request = ConsumptionRequestV1(
        customerConsented: true, consumptionStatus: 2, deliveryStatus: 0, appAccountToken: "")
      let coins = try #require(bench.bought("Consumable").first)
      _ = try await client.send(.consumptionV1(request, of: coins), as: credentials, in: .sandbox)
      #expect(try await bench.told() == [coins: [.object(request.json)]])
      let owned = try #require(bench.bought("Non-Consumable").first)
      do throws(APIError) {
        _ = try await client.send(.consumptionV1(request, of: owned), as: credentials, in: .sandbox)
        Issue.record("Apple takes no report of what cannot be consumed")
      } catch { #expect(error.errorCode == 4_000_043, "\(error)") }
      do throws(APIError) {
        let wrong = ConsumptionRequestV1(customerConsented: true, consumptionStatus: 9, appAccountToken: "")
        _ = try await client.send(.consumptionV1(wrong, of: coins), as: credentials, in: .sandbox)
        Issue.record("9 is no consumptionStatus")
      } catch { #expect(error.errorCode == 4_000_034, "\(error)") }
    }
  }
}
