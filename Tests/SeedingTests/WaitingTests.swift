@Suite struct `Evidence that waits` {
  /// Runs `body` with a service in front of the bench, which asks as `change` says.
  private static func with(
    _ bench: SeedingBench, _ change: @Sendable (inout Application.Settings) -> Void = { _ in },
    _ body: (_ base: String, _ token: String) async throws -> Void
  ) async throws {
    let (app, root) = (bench.app, try bench.running.store.identity.chains.pki.trustedRoot())
    let token = try await bench.pool.transaction { session throws(DatabaseError) in
      try TokenTable.issue(for: app, label: "test", at: SeedingBench.start, in: session)
    }
    var settings = Application.Settings(http: HTTPServerConfiguration(port: 0))
    settings.http.limits.answer = .seconds(80)
    var appStore = AppStoreSettings(
      verifier: SignedDataVerifier(roots: TrustedRoots.apple.adding([root], for: .sandbox)))
    appStore.hosts = AppStoreHosts(simulator: bench.running.productionURL)
    appStore.bounds = { .unknown($0) }
    (appStore.reconcileEvery, appStore.heartbeatEvery, appStore.refundSweepEvery) = (nil, nil, nil)
    settings.appStore = appStore
    change(&settings)
    // The clock runs, so that a process that comes anew gets its part of the budget.
    let begun = ContinuousClock.now
    let clock = WallClock {
      bench.clock.clock.now() + .milliseconds(Int64((ContinuousClock.now - begun) / .milliseconds(1)))
    }
    let installation = try await Application(
      pool: Pool(bench.database), adapter: bench.adapter, keys: bench.keys, settings: settings, clock: clock,
      logger: Logger(label: "test", level: .debug, handler: bench.log))
    try installation.server.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in installation.services { group.addTask { try await part.run() } }
      let failure: (any Error)?
      do {
        try await body("http://127.0.0.1:\(installation.server.port)", token)
        failure = nil
      } catch { failure = error }
      group.cancelAll()
      if let failure { throw failure }
    }
  }

  private static func post(
    _ id: String, _ bench: SeedingBench, _ base: String, _ token: String, wait: String
  ) async throws -> (status: Int, body: JSONObject) {
    let body: JSONObject = ["transactionId": .string(id)]
    let response = try await bench.http.send(
      ClientRequest(
        method: "POST", url: "\(base)/v1/evidence?environment=Sandbox&wait=\(wait)",
        headers: [("Authorization", "Bearer \(token)")], body: body.encoded(), deadline: .seconds(60)))
    return (response.status, (try? JSONReader.read(response.body).object) ?? [:])
  }

  @Test func `is answered with everything that Apple knows of the customer`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      try await Self.with(bench) { base, token in
        let ids = bench.customers[0]
        let (status, answer) = try await Self.post(ids[0], bench, base, token, wait: "30")
        #expect(status == 200 && answer["history"] == "done")
        let purchases = (answer["results"]?.array ?? []).flatMap { $0.object?["purchases"]?.array ?? [] }
        let world = bench.running.world
        let customer = world.customers(of: SeedingBench.bundleID).first {
          world.state(of: $0).originalTransactionIDs == ids
        }
        let bought = customer.map { world.transactions(of: $0).count }
        #expect(purchases.count == bought)
        let unknown = try await Self.post("999000000000001", bench, base, token, wait: "30")
        #expect(unknown.status == 200 && unknown.body["history"] == "unknown")
        #expect(try await Self.post(ids[0], bench, base, token, wait: "31").status == 400)
        #expect(try await Self.post(ids[0], bench, base, token, wait: "soon").status == 400)
        #expect(try await Self.post(ids[0], bench, base, token, wait: "0").body["history"] == nil)
      }
    }
  }

  @Test func `is stored also where nobody can be asked`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      try await Self.with(bench) {
        $0.appStore = nil
      } _: { base, token in
        let answer = try await Self.post(bench.customers[0][0], bench, base, token, wait: "5")
        #expect(answer.status == 200 && answer.body["history"] == "noCredentials")
        #expect(answer.body["status"] == "stored")
        #expect(try await bench.counts() == ["waiting": 1])
      }
    }
  }

  @Test func `is told why it has to wait when Apple lets nobody in`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: Refusing())
      try server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        try await Self.with(bench) {
          $0.appStore?.hosts = AppStoreHosts(simulator: "http://127.0.0.1:\(server.port)")
        } _: { base, token in
          let answer = try await Self.post(bench.customers[0][0], bench, base, token, wait: "15")
          #expect(answer.status == 200 && answer.body["history"] == "waiting")
          let pause = answer.body["historyPause"]?.object
          #expect(pause?["reason"]?.string?.contains("unauthorized") == true, "\(answer.body)")
          #expect((pause?["until"]?.integer ?? 0) > bench.clock.clock.now().sinceEpoch)
        }
      }
    }
  }

  /// Whoever can have a back end hand in ids could fill the queue of those that nothing proves.
  @Test func `is refused where nothing proves it and too much of that waits`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: Refusing())
      try server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        for start in stride(from: 0, to: HistoryJobTable.mostUnproven, by: 500) {
          try await bench.arrive((start..<(start + 500)).map { ["8\(1_000_000 + $0)"] }, areProven: false)
        }
        try await Self.with(bench) {
          $0.appStore?.hosts = AppStoreHosts(simulator: "http://127.0.0.1:\(server.port)")
        } _: { base, token in
          let number = Mutex(0)
          let isRefused = try await eventually {
            let next = number.withLock { number in
              number += 1
              return number
            }
            let answer = try await Self.post("33\(100_000 + next)", bench, base, token, wait: "0")
            return answer.status == 429 && answer.body["error"]?.object?["code"] == "tooManyUnverifiedIds"
          }
          #expect(isRefused)
        }
      }
    }
  }

  @Test func `finds the purchases of an order that was looked up by its id`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      let world = bench.running.world
      let everything = world.customers(of: SeedingBench.bundleID).flatMap { world.transactions(of: $0) }
      guard let bought = everything.first else {
        Issue.record("nobody has bought anything")
        return
      }
      let signed = try bench.running.store.identity.chains.pki.sign(
        bought.transaction.payload(signedAt: bench.clock.clock.now()))
      let body: JSONObject = [
        "orderId": .string(bought.orderID), "status": 0,
        "signedTransactions": [.string(String(decoding: signed, as: UTF8.self))],
      ]
      let ledger = LedgerStore(pool: bench.pool)
      let answers = APIResponseRecorder(
        intake: bench.intake, clock: bench.clock.clock,
        logger: Logger(label: "test", level: .debug, handler: bench.log)
      ) { entry in try await ledger.append([entry]).first ?? .stored }
      #expect(try await ledger.dossiers(of: bought.orderID, app: bench.app, extent: .purchases).isEmpty)
      let read = answers.read(body.encoded(), bench.app, .sandbox)
      guard case .findings = read.content, await read.record() else {
        Issue.record("the answer was not stored")
        return
      }
      let found = try await ledger.dossiers(of: bought.orderID, app: bench.app, extent: .purchases)
      #expect(found.first?.originalTransactionIDs == [bought.transaction.originalTransactionID])
      // Nothing that we asked for makes work of its own.
      #expect(try await bench.counts() == [:])
    }
  }
}

/// Apple to a key that was revoked.
private struct Refusing: HTTPHandler {
  func respond(to request: HTTPRequest) async -> HTTPResponse { HTTPResponse(status: 401) }
}
