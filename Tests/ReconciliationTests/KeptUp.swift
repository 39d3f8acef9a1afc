/// A simulated App Store and a service that it sends to, for the length of one test: under one clock, or the service ahead.
struct KeptUp: Sendable {
  static let start = Timestamp(1_767_600_000_000)
  static let app = MixedStory.app
  private static let receiptPKI = ReceiptPKI.known(at: start)

  let running: RunningAppStore
  let clock: SteppedClock
  let environment: AppStoreEnvironment
  /// How far the service's clock is ahead of Apple's.
  let ahead: Interval
  let pool: Pool
  let log: RecordingLogHandler
  let metrics: MetricsRegistry
  let service: String
  private let client: HTTPClient
  private let keys: Keyring

  /// Runs `body` with a world and a service, which are stopped afterwards.
  ///
  /// - Parameter isAsking: whether the service asks Apple by itself; else whoever reconciles by hand is alone.
  static func with(
    _ world: AppStoreWorld, in environment: AppStoreEnvironment = .sandbox, ahead: Interval = .milliseconds(0),
    isAsking: Bool = true,
    _ change: (inout AppStoreSettings) -> Void = { $0.reconcileEvery = nil },
    _ body: @Sendable (KeptUp) async throws -> Void
  ) async throws {
    let clock = SteppedClock(at: world.now)
    var market = RunningAppStore.Settings()
    market.receiptPKI = receiptPKI
    let serviceClock = WallClock { clock.clock.now() + ahead }
    // Tokens are of the time of the service; what is signed is of the world's.
    let running = try RunningAppStore.start(world, market, clock: serviceClock)
    let configuration = try await PrivateMariaDB.shared.database()
    let (pool, keys) = (Pool(configuration), Keyring.ofTests)
    let (identity, now) = (running.store.identity, world.now + ahead)
    let pem = try identity.key.signingKey.pem()
    try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
      let app = try AppTable.add(bundleID: Self.app, appAppleID: 1_600_000_000, at: now, in: session)
      try CredentialTable.put(
        pem, kind: .apiKey, name: identity.key.keyID, issuer: identity.key.issuerID, of: app,
        sealedWith: keys, at: now, in: session)
      try CredentialTable.put(
        Array(AppPlan.sample(Self.app).sharedSecret.utf8), kind: .sharedSecret, name: "shared", issuer: "", of: app,
        sealedWith: keys, at: now, in: session)
    }
    let verifier = SignedDataVerifier(roots: TrustedRoots(exactly: [try identity.chains.pki.trustedRoot()]))
    var settings = Application.Settings(http: HTTPServerConfiguration(port: 0))
    settings.http.limits.answer = .seconds(80)
    settings.verifyReceipt.production = running.productionURL + "/verifyReceipt"
    // The world's days pass in seconds.
    settings.answering.flowKept = .zero
    settings.answersKept = .milliseconds(0)
    var asking = AppStoreSettings(verifier: verifier)
    asking.hosts = AppStoreHosts(simulator: running.productionURL)
    // The clock stands still: a rate would never let the second call go.
    asking.bounds = { _ in Self.noLimit }
    (asking.heartbeatEvery, asking.refundSweepEvery) = (nil, nil)
    change(&asking)
    settings.appStore = isAsking ? asking : nil
    let log = RecordingLogHandler()
    let installation = try await Application(
      pool: pool, adapter: Self.adapter(running), keys: keys, settings: settings, clock: serviceClock,
      logger: Logger(label: "test", level: .debug, handler: log))
    try installation.server.start()
    let kept = KeptUp(
      running: running, clock: clock, environment: environment, ahead: ahead, pool: pool, log: log,
      metrics: installation.metrics, service: "http://127.0.0.1:\(installation.server.port)", client: HTTPClient(),
      keys: keys)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await running.run() }
      for part in installation.services { group.addTask { try await part.run() } }
      do {
        try await body(kept)
      } catch {
        await kept.client.shutdown()
        group.cancelAll()
        throw error
      }
      await kept.client.shutdown()
      group.cancelAll()
    }
  }

  private static func adapter(_ running: RunningAppStore) throws -> MessageDecoder {
    let identity = running.store.identity
    return MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: [try identity.chains.pki.trustedRoot()])),
      receipts: ReceiptReader(trust: ReceiptTrust(exactly: [try identity.receiptPKI.trustedRoot()])))
  }

  var serviceClock: WallClock { WallClock { [clock, ahead] in clock.clock.now() + ahead } }

  /// Where notifications go.
  var url: String { "\(service)/notifications/\(Self.app)" }

  /// Has Apple send to the service, or elsewhere.
  func send(_ version: NotificationVersion, to other: String? = nil) {
    running.send(
      SimulatedAppScope(bundleID: Self.app, environment: environment),
      to: Simulator.Destination(url: other ?? url, version: version))
  }

  /// Posts to the service what Apple would; its status.
  func post(_ body: [UInt8]) async throws -> Int {
    try await client.send(ClientRequest(method: "POST", url: url, body: body)).status
  }

  func control(_ path: String, _ body: JSONObject) async throws {
    let answer = try await client.send(
      ClientRequest(method: "POST", url: "\(running.controlURL)/\(path)", body: body.encoded(), deadline: .seconds(60)))
    try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  func advance(_ interval: Interval) async throws {
    clock.advance(by: interval)
    try await control("advance", ["milliseconds": .integer(interval.milliseconds)])
  }

  /// What each customer's app hands in: the last transaction that StoreKit signed.
  func handInTransactions() async throws {
    let (world, now) = (running.world, clock.clock.now())
    let signer = try PayloadSigner(running.store.identity.chains.pki)
    try await handIn(
      world.customers().compactMap { customer in
        guard let last = world.state(of: customer).purchases.last else { return nil }
        return try signer.sign(last.transaction.payload(signedAt: now))
      })
  }

  /// Hands in evidence as the app's back end does.
  func handIn(_ evidence: [[UInt8]]) async throws {
    let intake = IngestDecider(adapter: try Self.adapter(running))
    let (environment, now) = (try await place().environment, serviceClock.now())
    let app = try #require(
      try await pool.read { session throws(DatabaseError) in try AppTable.find(Self.app, in: session) })
    let entries = try evidence.compactMap { body in
      try intake.decision(
        on: InboxMessage(
          kind: .evidence, body: body, claim: SubmissionMetadata(environment: environment), receivedAt: now),
        about: app
      ).entry
    }
    _ = try await LedgerStore(pool: pool).append(entries)
  }

  /// The answer to an old client's receipt, by the service or by another one at `base`, and who gave it.
  func verifyReceipt(
    _ receipt: [UInt8], at base: String? = nil
  ) async throws -> (body: JSONObject, source: String?) {
    let body: JSONObject = [
      "receipt-data": .string(String(decoding: receipt, as: UTF8.self)),
      "password": .string(AppPlan.sample(Self.app).sharedSecret),
    ]
    let answer = try await client.send(
      ClientRequest(
        method: "POST", url: "\(base ?? service)/verifyReceipt", body: body.encoded(), deadline: .seconds(60)))
    return (try #require(try JSONReader.read(answer.body).object), answer.headers["Switchyard-Answered-By"])
  }

  private static let noLimit = RateBounds(start: 1e6, most: 1e6, burst: 1_000_000)

  /// A client of the API without a limit of its own.
  struct Asking {
    let client: AppStoreClient
    fileprivate let http: HTTPClient

    func end() async { await http.shutdown() }
  }

  /// - Parameter url: where Apple is; nil: where the simulated one is.
  func asking(_ url: String? = nil) -> Asking {
    let http = HTTPClient()
    // Between two attempts no time passes.
    let timing = CallTimeSource(clock: clock.clock, sleep: { _ in try Task.checkCancellation() })
    let gate = RateLimiter(
      store: InMemoryRateLimitStore().member("test"), timing: timing, bounds: { _ in Self.noLimit })
    return Asking(
      client: AppStoreClient(
        http: http, hosts: AppStoreHosts(simulator: url ?? running.productionURL), gate: gate, timing: timing),
      http: http)
  }

  /// The app in one environment.
  func place(_ environment: Environment? = nil) async throws -> ReconciliationTarget {
    let keys = keys
    let askable = try await pool.read { session throws(DatabaseError) in
      try AppWithAPIKey.all(with: keys, in: session).askable
    }
    let app = try #require(askable.first)
    return try #require(
      ReconciliationTarget(app, environment ?? (self.environment == .production ? .production : .sandbox)))
  }

  func mend() async throws {
    _ = try await client.send(ClientRequest(method: "DELETE", url: "\(running.controlURL)/faults"))
  }

  /// One comparison by hand.
  func reconcile(
    at url: String? = nil, _ change: (inout Reconciler.Plan) -> Void = { _ in }
  ) async throws -> ReconciliationReport {
    let (pool, keys, asking) = (pool, keys, asking(url))
    let (ledger, logger) = (LedgerStore(pool: pool), Logger(label: "test", level: .debug, handler: log))
    let verifier = SignedDataVerifier(
      roots: TrustedRoots(exactly: [try running.store.identity.chains.pki.trustedRoot()]))
    let intake = IngestDecider(adapter: try Self.adapter(running))
    let answers = APIResponseRecorder(intake: intake, clock: serviceClock, logger: logger) { entry in
      try await ledger.append([entry]).first ?? .stored
    }
    let seeding = HistoryJobWorker(
      pool: pool, client: asking.client, read: { answers.read($0, $1, $2) },
      access: {
        try await pool.read { session throws(DatabaseError) in try AppWithAPIKey.seeding(with: keys, in: session) }
      }, metrics: HistoryJobMetrics(MetricsRegistry()), clock: serviceClock, logger: logger)
    let reconciler = Reconciler(
      client: asking.client, verifier: verifier, intake: intake, ledger: ledger, seeding: seeding,
      directory: {
        try await pool.read { session throws(DatabaseError) in try AppTable.directory(with: keys, in: session) }
      }, record: { try await ledger.append($0) }, clock: serviceClock)
    var plan = Reconciler.Plan()
    change(&plan)
    let report = try await reconciler.run(try await place(), plan)
    await asking.end()
    return report
  }

  /// Asks Apple once for the refunds of everybody whose turn it is; how many were asked about.
  func sweepRefunds() async throws -> Int {
    let (ledger, asking, logger) = (
      LedgerStore(pool: pool), asking(), Logger(label: "test", level: .debug, handler: log)
    )
    let answers = APIResponseRecorder(
      intake: IngestDecider(adapter: try Self.adapter(running)), clock: serviceClock, logger: logger
    ) { entry in try await ledger.append([entry]).first ?? .stored }
    let sweep = RefundSweep(
      client: asking.client, ledger: ledger, keys: keys, every: .days(7), metrics: MetricsRegistry(),
      clock: serviceClock, logger: logger, read: { answers.read($0, $1, $2) })
    let count = try await sweep.sweep(try await place())
    await asking.end()
    return count
  }

  /// When somebody is to be asked about next; in the past while they are, nil when nobody is.
  func nextLookUp() async throws -> Timestamp? {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT MIN(IF(owner IS NULL, due_at, 0)) AS due FROM work WHERE state = 0").first?
        .optionalMilliseconds("due")
    }
  }

  func rowCount(_ condition: SQL) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS rows_there FROM " + condition).first?.int("rows_there") ?? 0
    }
  }
}
