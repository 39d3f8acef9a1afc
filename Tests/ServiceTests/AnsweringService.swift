/// A simulated App Store and a service that answers verifyReceipt itself, under one clock, for the length of one test.
///
/// The clock runs, so that Apple's budget fills, and can be set forward; or it stands still between the steps of a test.
/// The guard looks at the impact alone, unless a test sets another rule.
struct AnsweringService: Sendable {
  static let app = MixedStory.app
  static let start = Timestamp(1_767_600_000_000)
  private static let receiptPKI = SimulatedCases.pki

  let running: RunningAppStore
  let clock: SteppedClock
  let database: DatabaseConfiguration
  let pool: Pool
  let log: RecordingLogHandler
  let base: String
  let token: String
  private let client: HTTPClient

  /// - Parameters:
  ///   - stage: of the environment; the other one stays in `record`.
  ///   - readings: of open rules, which the app has chosen.
  static func with(
    _ world: AppStoreWorld, stage: String, in environment: AppStoreEnvironment = .sandbox, isAsking: Bool = true,
    hasSecret: Bool = true, clockRuns: Bool = true, readings: [String] = [],
    _ change: (inout Application.Settings) -> Void = { $0.answersKept = .milliseconds(0) },
    _ body: @Sendable (AnsweringService) async throws -> Void
  ) async throws {
    let clock = SteppedClock(at: world.now)
    let begun = ContinuousClock.now
    let wall =
      clockRuns
      ? WallClock { clock.clock.now() + .milliseconds((ContinuousClock.now - begun).wholeMilliseconds) } : clock.clock
    var market = RunningAppStore.Settings()
    market.receiptPKI = receiptPKI
    let running = try RunningAppStore.start(world, market, clock: wall)
    let configuration = try await PrivateMariaDB.shared.database()
    let (pool, keys) = (Pool(configuration), Keyring.ofTests)
    let identity = running.store.identity
    let (pem, now) = (try identity.key.signingKey.pem(), world.now)
    let token = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
      let app = try AppTable.add(bundleID: Self.app, appAppleID: 1_600_000_000, at: now, in: session)
      try CredentialTable.put(
        pem, kind: .apiKey, name: identity.key.keyID, issuer: identity.key.issuerID, of: app, sealedWith: keys,
        at: now, in: session)
      if hasSecret {
        try CredentialTable.put(
          Array(Self.secret.utf8), kind: .sharedSecret, name: "shared", issuer: "", of: app, sealedWith: keys, at: now,
          in: session)
      }
      try PolicyTable.set(answerReadings: readings, of: app, at: now, in: session)
      let code = environment == .production ? 1 : 2
      _ = try session.execute("UPDATE flags SET stage = \(stage), epoch = epoch + 1 WHERE environment = \(code)")
      // Beside six other tests on two cores the guard would take an app back since its answers are slow.
      var rule = GuardRule()
      (rule.mostErrors, rule.mostLatency) = (0, 0)
      let scope = AppScope(app: app.id, environment: environment == .production ? .production : .sandbox)
      try GuardTable.set(rule, of: scope, at: Timestamp(1), in: session)
      return try TokenTable.issue(for: app, label: "test", at: now, in: session)
    }
    let verifier = SignedDataVerifier(roots: TrustedRoots(exactly: [try identity.chains.pki.trustedRoot()]))
    var settings = Application.Settings(http: HTTPServerConfiguration(port: 0))
    settings.verifyReceipt.production = running.productionURL + "/verifyReceipt"
    settings.verifyReceipt.sandbox = running.sandboxURL + "/verifyReceipt"
    // Apple is in this process too. Beside other tests on one core each step of a call may wait for seconds.
    settings.verifyReceipt.deadline = .seconds(70)
    settings.verifyReceipt.deadlineBesideOurs = .seconds(60)
    settings.answering.lookUpWithin = .seconds(60)
    settings.http.limits.answer = .seconds(140)
    settings.answering.flowKept = .zero
    // Beside six other tests on two cores a decision takes seconds now and then: the caller would get Apple's answer.
    settings.answering.stagesTrusted = .seconds(60)
    settings.answering.stagesWithin = .seconds(60)
    settings.answering.rampWithin = .seconds(60)
    (settings.answering.answerWithin, settings.answering.silence) = (.seconds(60), .seconds(60))
    // The comparisons' thread waits for everybody else's.
    settings.shadow.within = .seconds(60)
    change(&settings)
    var asking = AppStoreSettings(verifier: verifier)
    asking.hosts = AppStoreHosts(simulator: running.productionURL)
    asking.bounds = { _ in RateBounds(start: 1e6, most: 1e6, burst: 1_000_000) }
    asking.heartbeatEvery = nil
    (asking.reconcileEvery, asking.refundSweepEvery) = (nil, nil)
    settings.appStore = isAsking ? asking : nil
    let log = RecordingLogHandler()
    let adapter = MessageDecoder(
      verifier: verifier, receipts: ReceiptReader(trust: ReceiptTrust(exactly: [try receiptPKI.trustedRoot()])))
    let installation = try await Application(
      pool: pool, adapter: adapter, keys: keys, settings: settings, clock: wall,
      logger: Logger(label: "test", level: .debug, handler: log))
    try installation.server.start()
    let service = AnsweringService(
      running: running, clock: clock, database: configuration, pool: pool, log: log,
      base: "http://127.0.0.1:\(installation.server.port)", token: token, client: HTTPClient())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await running.run() }
      for part in installation.services { group.addTask { try await part.run() } }
      do {
        try await body(service)
      } catch {
        await service.client.shutdown()
        group.cancelAll()
        throw error
      }
      await service.client.shutdown()
      group.cancelAll()
    }
  }

  static var secret: String { AppPlan.sample(app).sharedSecret }

  // MARK: Receipts and answers

  /// - Parameter app: another one than the customer's, as which it is signed.
  func receipt(of customer: CustomerID, at date: Timestamp? = nil, app: String? = nil) throws -> String {
    var receipt = running.world.state(of: customer, at: date).receipt
    if let app { receipt.bundleID = app }
    return try signed(receipt)
  }

  func signed(_ receipt: SimulatedReceipt) throws -> String {
    String(decoding: try receipt.encoded(signedBy: Self.receiptPKI), as: UTF8.self)
  }

  /// The receipt that iOS 6 had of a purchase, with all that the simulator answers of it signed.
  func transactionReceipt(of purchase: SimulatedReceipt.Purchase, _ customer: CustomerID) throws -> String {
    let signer = Self.receiptPKI.transactionSigner
    let answer = try TransactionReceiptAnswer(about: purchase, of: running.world.state(of: customer))
      .object(signedBy: signer)
    let pairs = (answer["receipt"]?.object ?? [:]).compactMap { member in
      member.value.string.map { "\t\"\(member.key.replacing("_", with: "-"))\" = \"\($0)\";\n" }
    }
    let info = Array("{\n\(pairs.joined())}".utf8)
    return String(
      decoding: try SimulatedTransactionReceipt(purchase).encoded(signedBy: signer, info: info), as: UTF8.self)
  }

  static func request(_ receipt: String, password: String? = secret, excludesOld: Bool = false) -> JSONObject {
    var body: JSONObject = ["receipt-data": .string(receipt)]
    if let password { body["password"] = .string(password) }
    if excludesOld { body["exclude-old-transactions"] = true }
    return body
  }

  struct Answer: Sendable {
    let status: Int
    let type: String?
    let source: String?
    let body: JSONObject

    var code: Int64? { body["status"]?.integer }
  }

  /// Our answer.
  func ask(
    _ body: JSONObject, path: String = "/sandbox/verifyReceipt", token: String? = nil,
    headers: [(name: String, value: String)] = []
  ) async throws -> Answer {
    try await post(body.encoded(), to: base + path, token: token, headers: headers)
  }

  /// The simulated App Store's own.
  func apple(_ body: JSONObject) async throws -> JSONObject {
    try await post(body.encoded(), to: running.sandboxURL + "/verifyReceipt").body
  }

  func post(
    _ body: [UInt8], to url: String, token: String? = nil, headers: [(name: String, value: String)] = []
  ) async throws -> Answer {
    var request = ClientRequest(
      method: "POST", url: url, headers: headers, body: body, deadline: .seconds(150), responseLimit: 16 << 20)
    if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
    return try await send(request)
  }

  func send(_ request: ClientRequest) async throws -> Answer {
    let response = try await client.send(request)
    return Answer(
      status: response.status, type: response.headers["Content-Type"],
      source: response.headers["Switchyard-Answered-By"],
      body: (try? JSONReader.read(response.body, limits: JSONLimits(bytes: 16 << 20, depth: 16)).object) ?? [:])
  }

  /// Why answers were not fresh, one after the other.
  var reasons: [String] {
    log.records.filter { $0.message == "verifyReceipt was answered" }.compactMap {
      $0.metadata["notFresh"].map { "\($0)" }
    }
  }

  func metrics() async throws -> String {
    let response = try await client.send(ClientRequest(url: base + "/metrics", deadline: .seconds(150)))
    return String(decoding: response.body, as: UTF8.self)
  }

  /// Has the simulated App Store do so.
  func control(_ path: String, _ body: JSONObject) async throws {
    let answer = try await client.send(
      ClientRequest(method: "POST", url: "\(running.controlURL)/\(path)", body: body.encoded(), deadline: .seconds(60)))
    try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  /// Ends every fault of the simulated App Store.
  func withoutFaults() async throws {
    let answer = try await client.send(
      ClientRequest(method: "DELETE", url: "\(running.controlURL)/faults", deadline: .seconds(60)))
    try #require(answer.status == 200)
  }

  /// How many calls of the App Store Server API each fault that was set has met.
  func matchedCalls() async throws -> [Int64] {
    let answer = try await send(ClientRequest(url: "\(running.controlURL)/faults", deadline: .seconds(60)))
    return (answer.body["faults"]?.array ?? []).compactMap { $0.object?["matched"]?.integer }
  }

  func advance(_ interval: Interval) async throws {
    clock.advance(by: interval)
    try await control("advance", ["milliseconds": .integer(interval.milliseconds)])
  }

  /// Sets the simulated App Store to `date`, and the clock of everything to `instant`.
  func advance(to date: Timestamp, clock instant: Timestamp) async throws {
    clock.advance(by: instant - clock.clock.now())
    try await control("advance", ["to": .integer(date.sinceEpoch)])
  }

  /// The path of verifyReceipt in an environment.
  func path(_ environment: AppStoreEnvironment) -> String {
    environment == .production ? "/verifyReceipt" : "/sandbox/verifyReceipt"
  }

  func execute(_ statement: SQL) async throws {
    try await pool.read { session throws(DatabaseError) in _ = try session.execute(statement) }
  }

  func rowCount(_ condition: SQL) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS rows_there FROM " + condition).first?.int("rows_there") ?? 0
    }
  }
}

extension Duration {
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
