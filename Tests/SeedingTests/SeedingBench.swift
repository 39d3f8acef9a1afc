/// A simulated App Store that serves, a ledger of its own with the app and its key, and workers between the two.
struct SeedingBench: Sendable {
  static let bundleID = "com.example.notes"
  /// 2026-01-05T08:00:00Z.
  static let start = Timestamp(1_767_600_000_000)
  /// One for all tests: making one takes a second.
  private static let receiptPKI = ReceiptPKI.known(at: start)

  let running: RunningAppStore
  let clock: SteppedClock
  let database: DatabaseConfiguration
  let pool: Pool
  let app: App
  let keys: Keyring
  let log = RecordingLogHandler()
  let http = HTTPClient()
  let calls = CallCounter()

  /// How often which endpoint was answered how.
  final class CallCounter: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func note(_ call: CallRecord) {
      let key = "\(call.endpoint.rawValue) \(call.status.map { "\($0)" } ?? "none")"
      counts.withLock { $0[key, default: 0] += 1 }
    }

    subscript(_ endpoint: Endpoint, _ status: Int) -> Int {
      counts.withLock { $0["\(endpoint.rawValue) \(status)"] ?? 0 }
    }
  }

  /// A world of an app in the sandbox whose customers have lived for so many days.
  static func world(customers: Int, days: Int64 = 200) -> AppStoreWorld {
    var plan = AppPlan.sample(bundleID)
    plan.customers = customers
    plan.arrival = .days(20)
    plan.habits = .lively
    let other = AppPlan.sample("com.example.other", appAppleID: 1_600_000_001)
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan, other]), seed: 7, start: start)
    world.advance(to: start + .days(days))
    return world
  }

  static func with(
    _ world: AppStoreWorld, app bundleID: String = Self.bundleID, _ body: @Sendable (SeedingBench) async throws -> Void
  ) async throws {
    let database = try await PrivateMariaDB.shared.database()
    let pool = Pool(database)
    var settings = RunningAppStore.Settings()
    settings.receiptPKI = receiptPKI
    let clock = SteppedClock(at: world.now)
    let running = try RunningAppStore.start(world, settings, clock: clock.clock)
    let keys = Keyring.ofTests
    let key = running.store.identity.key
    let pem = try key.signingKey.pem()
    let app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: start, in: session)
      let app = try AppTable.add(bundleID: bundleID, appAppleID: 1_600_000_000, at: start, in: session)
      try CredentialTable.put(
        pem, kind: .apiKey, name: key.keyID, issuer: key.issuerID, of: app, sealedWith: keys, at: start, in: session)
      return app
    }
    let bench = SeedingBench(running: running, clock: clock, database: database, pool: pool, app: app, keys: keys)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await running.run() }
      let failure: (any Error)?
      do {
        try await body(bench)
        failure = nil
      } catch { failure = error }
      await bench.http.shutdown()
      group.cancelAll()
      try await group.waitForAll()
      if let failure { throw failure }
    }
    await pool.close()
  }

  /// A worker as a process of its own would have it; its waits advance the clock instead of passing time.
  ///
  /// - Parameters:
  ///   - isPatient: whoever waits for an answer waits for as long as it takes.
  ///   - gate: asked before an answer is recorded: false has the ledger not take it.
  func worker(
    concurrency: Int = 8, isPatient: Bool = false, answerBytes: Int? = nil,
    recordingIf gate: (@Sendable () async -> Bool)? = nil
  ) -> HistoryJobWorker {
    let pacing = TimeSource(
      elapsed: { .milliseconds(0) }, sleep: { isPatient ? await untilCancelled() : try await sleep($0) },
      random: { $0 / 2 })
    return seeding(client(), pacing, concurrency: concurrency, answerBytes: answerBytes, recordingIf: gate)
  }

  /// Asks the simulated App Store, or another; its waits advance the clock instead of passing time.
  func client(_ url: String? = nil, bounds: RateBounds? = nil) -> AppStoreClient {
    let timing = CallTimeSource(clock: clock.clock, sleep: { try await sleep($0) }, jitter: { 0.5 })
    return client(timing, url) { bounds ?? .unknown($0) }
  }

  /// A client with a budget as a process of its own would have it.
  func client(
    _ timing: CallTimeSource, _ url: String? = nil, bounds: @escaping @Sendable (RateLimitKey) -> RateBounds
  ) -> AppStoreClient {
    AppStoreClient(
      http: http, hosts: AppStoreHosts(simulator: url ?? running.productionURL),
      gate: RateLimiter(store: DatabaseRateLimitStore(pool: pool), timing: timing, bounds: bounds), timing: timing,
      observe: { calls.note($0) })
  }

  func seeding(
    _ client: AppStoreClient, _ pacing: TimeSource, concurrency: Int, grace: Interval? = nil, answerBytes: Int? = nil,
    recordingIf gate: (@Sendable () async -> Bool)? = nil
  ) -> HistoryJobWorker {
    let ledger = LedgerStore(pool: pool)
    let logger = Logger(label: "test", level: .debug, handler: log)
    let answers = APIResponseRecorder(intake: intake, clock: clock.clock, logger: logger) { entry in
      try await ledger.append([entry]).first ?? .stored
    }
    var settings = HistoryJobWorker.Settings()
    settings.concurrency = concurrency
    if let grace { settings.grace = grace }
    if let answerBytes { settings.answerBytes = answerBytes }
    return HistoryJobWorker(
      pool: pool, client: client,
      read: { body, app, environment in
        let read = answers.read(body, app, environment)
        return DecodedAPIResponse(read.content) {
          guard await gate?() ?? true else { return false }
          return await read.record()
        }
      },
      access: {
        try await pool.read { session throws(DatabaseError) in try AppWithAPIKey.seeding(with: keys, in: session) }
      }, settings: settings, metrics: HistoryJobMetrics(MetricsRegistry()), clock: clock.clock, pacing: pacing,
      logger: logger)
  }

  private func sleep(_ interval: Interval) async throws {
    try Task.checkCancellation()
    clock.advance(by: interval)
    await Task.yield()
  }

  var intake: IngestDecider { IngestDecider(adapter: adapter) }

  var adapter: MessageDecoder {
    let root = try? running.store.identity.chains.pki.trustedRoot()
    let roots = TrustedRoots.apple.adding(root.map { [$0] } ?? [], for: .sandbox)
    return MessageDecoder(verifier: SignedDataVerifier(roots: roots))
  }

  /// The ids of each customer of the app who has bought something.
  var customers: [[String]] {
    let world = running.world
    return world.customers(of: Self.bundleID).map { world.state(of: $0).originalTransactionIDs }.filter { !$0.isEmpty }
  }

  /// Registers another key under the id of the app's.
  func register(_ pem: [UInt8]) async throws {
    let (key, now) = (running.store.identity.key, clock.clock.now())
    try await pool.transaction { session throws(DatabaseError) in
      try CredentialTable.put(
        pem, kind: .apiKey, name: key.keyID, issuer: key.issuerID, of: app, sealedWith: keys, at: now, in: session)
    }
  }

  /// Has ids arrive, those of one list linked as a receipt links them; where they are not proven, as ids alone.
  func arrive(
    _ customers: [[String]], environment: Environment = .sandbox, areProven: Bool = true
  ) async throws {
    let now = clock.clock.now()
    let entries = customers.map { ids in
      var findings = Findings(app: app.bundleID, environment: environment)
      findings.seeds = ids.map {
        TransactionReference(app: app.bundleID, environment: environment, transactionID: $0, isSigned: areProven)
      }
      findings.links = ids.dropFirst().map { id in
        CustomerLink(
          app: app.bundleID, environment: environment, .originalTransactionID(ids[0]), .originalTransactionID(id))
      }
      let message = InboxMessage(
        kind: .evidence, body: Array("\(ids) \(environment) \(areProven)".utf8), receivedAt: now)
      return LedgerEntry(
        message,
        .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "receipt")))
    }
    _ = try await LedgerStore(pool: pool).append(entries)
  }

  /// Rounds until nothing more is leased.
  @discardableResult
  func finish(_ worker: HistoryJobWorker) async throws -> Int {
    var count = 0
    while true {
      let asked = try await worker.round()
      if asked == 0 { return count }
      count += asked
    }
  }

  func counts() async throws -> [String: Int] {
    let counts = try await pool.read { session throws(DatabaseError) in try HistoryJobTable.counts(of: app, in: session)
    }
    return counts.reduce(into: [:]) { $0[$1.state.name, default: 0] += $1.count }
  }

  /// The transaction ids of the app's signed purchases in the ledger.
  func known() async throws -> Set<String> {
    let customers = customers
    let ledger = LedgerStore(pool: pool)
    var known: Set<String> = []
    for id in customers.compactMap(\.first) {
      for dossier in try await ledger.dossiers(of: id, app: app, extent: .customers) {
        known.formUnion(dossier.purchases.compactMap { $0.facts.text(.transactionId) })
      }
    }
    return known
  }

  /// What Apple would tell.
  var truth: Set<String> {
    let world = running.world
    return Set(
      world.customers(of: Self.bundleID).flatMap { world.transactions(of: $0) }.map(\.transaction.transactionID))
  }

  func fault(_ rule: JSONObject) async throws {
    let response = try await http.send(
      ClientRequest(method: "POST", url: "\(running.controlURL)/faults", body: rule.encoded()))
    if response.status != 200 { throw Unexpected(what: "\(response.status) for a fault") }
  }

  struct Unexpected: Error {
    let what: String
  }
}
