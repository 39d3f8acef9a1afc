@Suite struct `The app of an id` {
  private static let other = "com.example.other"

  /// Two registered apps, the one without customers first, and a client to ask with.
  private static func with(
    hasOtherKey: Bool = true, at url: String? = nil,
    _ body: @Sendable (SeedingBench, AppRouting, [AppRouting.Candidate]) async throws -> Void
  ) async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 3)) { bench in
      let (key, keys) = (bench.running.store.identity.key, bench.keys)
      let pem = try key.signingKey.pem()
      let candidates = try await bench.pool.transaction { session throws(DatabaseError) in
        let app = try AppTable.add(bundleID: other, appAppleID: 1_600_000_001, at: SeedingBench.start, in: session)
        if hasOtherKey {
          try CredentialTable.put(
            pem, kind: .apiKey, name: key.keyID, issuer: key.issuerID, of: app, sealedWith: keys,
            at: SeedingBench.start, in: session)
        }
        return try AskableApp.candidates(with: keys, in: session)
      }
      let root = try bench.running.store.identity.chains.pki.trustedRoot()
      let routing = AppRouting(
        pool: bench.pool, client: bench.client(url),
        verifier: SignedDataVerifier(roots: TrustedRoots.apple.adding([root], for: .sandbox)))
      try await body(bench, routing, candidates.sorted { $0.app.bundleID > $1.app.bundleID })
    }
  }

  private static func word(_ route: AppRouting.Route) -> String {
    switch route {
    case .found(let app, let environment, let by): "\(by): \(app.bundleID) \(environment?.rawValue ?? "anywhere")"
    case .ambiguous(let apps): "ambiguous: \(apps.map(\.bundleID).sorted())"
    case .unknown(let asked, let notAsked):
      "unknown: \(asked.map(\.bundleID)), not asked \(notAsked.map(\.app.bundleID))"
    }
  }

  @Test func `is the one of which the ledger knows it, and Apple is not asked`() async throws {
    try await Self.with { bench, routing, candidates in
      let id = bench.customers[0][0]
      try await bench.arrive([[id]])
      try await bench.finish(bench.worker())
      let route = try await routing.route(.transaction(id), among: candidates)
      #expect(Self.word(route) == "ledger: \(SeedingBench.bundleID) Sandbox")
      #expect(bench.calls[.getTransactionInfo, 200] + bench.calls[.getTransactionInfo, 404] == 0)
      // Elsewhere the ledger knows of nothing; then Apple says.
      let elsewhere = try await routing.route(.transaction(id), among: candidates, in: .production)
      #expect(Self.word(elsewhere) == "unknown: [\"\(Self.other)\", \"\(SeedingBench.bundleID)\"], not asked []")
    }
  }

  @Test func `is the first of which Apple knows it, in Production or the sandbox`() async throws {
    try await Self.with { bench, routing, candidates in
      #expect(candidates.map(\.app.bundleID) == [Self.other, SeedingBench.bundleID])
      let route = try await routing.route(.transaction(bench.customers[0][0]), among: candidates)
      #expect(Self.word(route) == "apple: \(SeedingBench.bundleID) Sandbox")
      // The other app was asked about in both environments, and this one was unknown in Production.
      #expect(bench.calls[.getTransactionInfo, 404] == 3 && bench.calls[.getTransactionInfo, 200] == 1)
      // Nothing is kept: whoever wants it in the ledger has it looked up.
      #expect(try await bench.known().isEmpty)
    }
  }

  @Test func `is found by the id of an order, in Production or the sandbox`() async throws {
    try await Self.with { bench, routing, candidates in
      let world = bench.running.world
      let bought = world.customers(of: SeedingBench.bundleID).flatMap { world.transactions(of: $0) }
      let order = AppRouting.ID.order(try #require(bought.first).orderID)
      let sandbox = try await routing.route(order, among: candidates, in: .sandbox)
      #expect(Self.word(sandbox) == "apple: \(SeedingBench.bundleID) Sandbox")
      let production = try await routing.route(order, among: candidates, in: .production)
      #expect(Self.word(production) == "unknown: [\"\(Self.other)\", \"\(SeedingBench.bundleID)\"], not asked []")
      #expect(bench.calls[.lookUpOrderId, 200] == 4)
      let either = try await routing.route(order, among: candidates)
      #expect(Self.word(either) == "apple: \(SeedingBench.bundleID) Sandbox")
      #expect(bench.calls[.lookUpOrderId, 200] == 8)
    }
  }

  @Test func `is not guessed where the ledger knows it of several`() async throws {
    try await Self.with { bench, routing, candidates in
      let id = bench.customers[0][0]
      for candidate in candidates {
        _ = try await bench.pool.transaction { session throws(DatabaseError) in
          try session.execute(
            """
            INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of)
            VALUES (\(candidate.app.id.number), 2, \(id), \(Alias.Kind.transactionID.rawValue), \(id), '', 1, 1)
            """)
        }
      }
      let route = try await routing.route(.transaction(id), among: candidates)
      #expect(Self.word(route) == "ambiguous: [\"\(SeedingBench.bundleID)\", \"\(Self.other)\"]")
    }
  }

  @Test func `is unknown where nobody has it, and an app without a key is told as not asked about`() async throws {
    try await Self.with(hasOtherKey: false) { bench, routing, candidates in
      let route = try await routing.route(.transaction("999000000000001"), among: candidates)
      #expect(Self.word(route) == "unknown: [\"\(SeedingBench.bundleID)\"], not asked [\"\(Self.other)\"]")
      guard case .unknown(_, let notAsked) = route, case .noKey? = notAsked.first?.reason else {
        Issue.record("the reason is another: \(route)")
        return
      }
      // What is none of Apple's ids is nobody's.
      let odd = try await routing.route(.transaction("abc"), among: candidates)
      #expect(Self.word(odd) == Self.word(route))
    }
  }

  @Test func `is not asked for beyond the budget`() async throws {
    try await Self.with { bench, _, candidates in
      let tight = bench.client(bounds: RateBounds(start: 0.001, most: 0.001))
      guard case .success(let credentials)? = candidates.first?.access else {
        Issue.record("the other app has no key")
        return
      }
      _ = try? await tight.send(.transactionInfo("1"), as: credentials, in: .production)
      let routing = AppRouting(pool: bench.pool, client: tight, verifier: SignedDataVerifier(roots: .apple))
      let route = try await routing.route(.transaction("999000000000001"), among: candidates)
      #expect(Self.word(route) == "unknown: [\"\(SeedingBench.bundleID)\"], not asked [\"\(Self.other)\"]")
      guard case .unknown(_, let notAsked) = route, case .failed(let failure)? = notAsked.first?.reason else {
        Issue.record("the reason is another: \(route)")
        return
      }
      #expect(failure.code == .overBudget)
    }
  }

  @Test func `is not one for which Apple answers with success and nothing in it, or with what is not proven`()
    async throws
  {
    let stranger = try ApplePKI.generate(at: SeedingBench.start)
    let forged = try stranger.sign(["bundleId": .string(Self.other), "environment": "Sandbox", "signedDate": 1])
    for (answer, expected): (JSONObject, String) in [
      ([:], "unknown: [\"\(Self.other)\", \"\(SeedingBench.bundleID)\"], not asked []"),
      (
        ["signedTransactionInfo": .string(String(decoding: forged, as: UTF8.self))],
        "unknown: [], not asked [\"\(Self.other)\", \"\(SeedingBench.bundleID)\"]"
      ),
    ] {
      let server = HTTPServer(
        HTTPServerConfiguration(port: 0, stopWithin: .seconds(2)), handler: OneAnswer(body: answer.encoded()))
      try server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        try await Self.with(at: "http://127.0.0.1:\(server.port)") { _, routing, candidates in
          let route = try await routing.route(.transaction("1"), among: candidates)
          #expect(Self.word(route) == expected)
        }
      }
    }
  }

  private struct OneAnswer: HTTPHandler {
    let body: [UInt8]

    func respond(to request: HTTPRequest) async -> HTTPResponse { .json(200, body) }
  }
}
