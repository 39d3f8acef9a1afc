package import Adapter
import AppStore
package import Database
package import Delivery
package import HTTPClient
package import HTTPServer
package import Ledger
package import Runtime
package import Seeding
package import Signing
package import Time

/// The parts of one process, wired: what `serve` runs and what the tests run.
package struct Installation: Sendable {
  package struct Settings: Sendable {
    package var http: HTTPServerConfiguration
    /// A listener for the metrics alone; nil: there is none.
    package var metricsListener: HTTPServerConfiguration?
    /// Whether `http` serves the metrics too: they name the apps, so strangers must not reach them.
    package var showsMetrics = true
    package var sources = AllowedSources.anywhere
    package var callers = Callers()
    package var junk = JunkAllowance.Settings()
    /// Nil: the disk of the database cannot be seen from here.
    package var disk: DiskWatch.Settings?
    package var commit = GroupCommit.Limits()
    package var verifyReceipt = VerifyReceiptUpstream()
    package var delivery = Delivery.Settings()
    /// How long the old back end has in the stage `legacy`, while Apple waits.
    package var passThroughWithin = Interval.seconds(10)
    package var client = HTTPClientConfiguration()
    /// The same that the adapter's verifier looks up.
    package var revocations = Revocations(.off)
    /// Nil: Apple is asked nothing by itself.
    package var appStore: AppStoreSettings?
    package var seeding = Seeding.Settings()

    package init(http: HTTPServerConfiguration) { self.http = http }
  }

  package let server: HTTPServer
  /// Serves the metrics alone; nil if there is no listener of that kind.
  package let metricsServer: HTTPServer?
  package let ledger: Ledger
  package let metrics: MetricsRegistry
  private let commit: GroupCommit
  private let registry: Registry
  private let pool: Pool
  private let housekeeping: Housekeeping
  /// Nil: the disk of the database cannot be seen from here.
  private let diskWatch: DiskWatch?
  private let readiness: Readiness
  private let delivery: Delivery
  private let revocationChecks: RevocationChecks
  /// Nil: Apple is told nothing by itself.
  private let consumption: ConsumptionAnswers?
  private let client: HTTPClient
  /// For what the outbox holds.
  private let forwarder: HTTPClient
  /// For what is passed through: it must not queue for a connection behind what the outbox sends to the same host.
  private let passing: HTTPClient
  /// For verifyReceipt: its clients wait, and may need many connections to one host.
  private let apple: HTTPClient
  /// Nil: Apple is asked nothing by itself.
  private let keepingUp: KeepingUp?
  private let api: HTTPClient
  /// Nil: Apple is asked nothing by itself.
  private let seeding: Seeding?

  /// Reads the registered apps once; the schema must be there.
  package init(
    pool: Pool, adapter: Adapter, keys: Keyring, settings: Settings, clock: WallClock, logger: Logger
  ) async throws {
    self.pool = pool
    let metrics = MetricsRegistry()
    self.metrics = metrics
    let counts = ServiceMetrics(metrics)
    let ledger = Ledger(pool: pool)
    self.ledger = ledger
    let registry = try await Registry(
      reading: {
        try await pool.read { session throws(DatabaseError) in try AppTable.directory(with: keys, in: session) }
      },
      logger: logger)
    self.registry = registry
    let readiness = Readiness(pool: pool)
    self.readiness = readiness
    let intake = Intake(adapter: adapter)
    let client = HTTPClient(settings.client)
    self.client = client
    var forwarding = settings.client
    // How many attempts are under way each destination decides for itself; one that is slow must not take the
    // connections of another on the same host.
    forwarding.connectionsPerHost = 1_024
    let forwarder = HTTPClient(forwarding)
    self.forwarder = forwarder
    let delivery = Delivery(
      pool: pool, settings: settings.delivery, post: Delivery.posting(over: forwarder),
      restore: LegacyPassword.restoring(from: registry, keys: keys), metrics: metrics, clock: clock, logger: logger)
    self.delivery = delivery
    let diskWatch = settings.disk.map { DiskWatch($0, logger: logger) }
    self.diskWatch = diskWatch
    let commit = GroupCommit(
      ledger, limits: settings.commit, announce: { delivery.wake($0) }, disk: { diskWatch?.level ?? .ample })
    self.commit = commit
    revocationChecks = RevocationChecks(
      settings.revocations, pool: pool, responder: Responder(client: client), metrics: metrics, clock: clock,
      logger: logger)
    let passing = HTTPClient(settings.client)
    self.passing = passing
    var calls = settings.client
    calls.connectionsPerHost = VerifyReceiptRoute.callsAtOnce
    let apple = HTTPClient(calls)
    self.apple = apple
    var asking = settings.client
    // Over HTTP/1.1 who waits for an answer finds a connection beside everybody of an app who is asked about in bulk; over
    // HTTP/2, which Apple speaks, many calls share one.
    asking.connectionsPerHost = settings.seeding.concurrency + settings.seeding.claimedConcurrency + 64
    let api = HTTPClient(asking)
    self.api = api
    let seedingMetrics = SeedingMetrics(metrics)
    let appStore = settings.appStore.map { appStore in
      let timing = CallTiming(clock: clock)
      return AppStoreClient(
        http: api, hosts: appStore.hosts,
        gate: BudgetGate(store: LedgerBudgets(pool: pool), timing: timing, bounds: appStore.bounds), timing: timing,
        observe: { seedingMetrics.note($0) })
    }
    let answers = AppleAnswers(intake: intake, clock: clock, logger: logger) { try await commit.append($0) }
    let seeding = appStore.map { client in
      Seeding(
        pool: pool, client: client, read: { answers.read($0, $1, $2) },
        access: {
          try await pool.read { session throws(DatabaseError) in try AskableApp.seeding(with: keys, in: session) }
        }, settings: settings.seeding, metrics: seedingMetrics, clock: clock, logger: logger)
    }
    self.seeding = seeding
    let lookUps = LookUps(ledger)
    let health = HealthRoute(metrics: metrics) {
      diskWatch?.level == .full ? "disk full" : readiness.reason
    }
    let router = Router(
      notifications: NotificationRoute(
        intake: intake, registry: registry, commit: commit,
        passThrough: PassThrough(
          post: Delivery.posting(over: passing), within: settings.passThroughWithin, key: keys.current, metrics: counts,
          logger: logger),
        key: keys.current, sources: settings.sources, junk: JunkAllowance(settings.junk), metrics: counts,
        clock: clock, logger: logger),
      receipts: VerifyReceiptRoute(
        client: apple, upstream: settings.verifyReceipt,
        answers: ReceiptAnswers(
          intake: intake, registry: registry, commit: commit, within: settings.verifyReceipt.recordWithin,
          metrics: counts, clock: clock, logger: logger),
        callers: settings.callers, registry: registry, key: keys.current, metrics: counts, logger: logger),
      evidence: EvidenceRoute(
        intake: intake, ledger: ledger, commit: commit, lookUps: lookUps, seeding: seeding, registry: registry,
        key: keys.current, metrics: counts, clock: clock, logger: logger),
      purchases: PurchasesRoute(lookUps: lookUps, clock: clock, logger: logger),
      health: health, showsMetrics: settings.showsMetrics, sources: settings.sources, callers: settings.callers,
      registry: registry)
    var http = settings.http
    http.classify = { [callers = settings.callers] in callers.connection(of: $0) }
    http.limits.reservedPercent = [.apple: 25, .known: 25, .anonymous: 25]
    // Whoever waits for Apple to the last is answered when what has begun is finished: the grace, and the way.
    http.limits.answer = max(http.limits.answer, .seconds(HistoryWait.longest + 10))
    let httpMetrics = HTTPServerMetrics(metrics, logger: logger)
    server = HTTPServer(http, handler: router) { httpMetrics.note($0) }
    httpMetrics.observe(server, in: metrics)
    metricsServer = settings.metricsListener.map { HTTPServer($0, handler: MetricsListener(health: health)) }
    if let settings = settings.appStore, let asking = appStore, let seeding {
      let reconciler = Reconciler(
        client: asking, verifier: settings.verifier, intake: intake, ledger: ledger, seeding: seeding,
        directory: { [registry] in await registry.refreshed(atMostEvery: Router.patience) },
        record: { entries in try await commit.append(all: entries) }, clock: clock)
      let heartbeat = settings.heartbeatEvery.map { every in
        HeartbeatCheck(client: asking, ledger: ledger, every: every, within: settings.heartbeatWithin, clock: clock)
      }
      keepingUp = KeepingUp(
        settings: settings, reconciler: reconciler, heartbeat: heartbeat, pool: pool, keys: keys,
        metrics: KeepingUpMetrics(metrics), clock: clock, logger: logger)
      consumption = ConsumptionAnswers(
        pool: pool, keys: keys, asking: client, telling: ConsumptionReport(client: asking, pool: pool, keys: keys),
        metrics: metrics, clock: clock, logger: logger)
    } else {
      (keepingUp, consumption) = (nil, nil)
    }
    housekeeping = Housekeeping(pool: pool, ledger: ledger, metrics: counts, clock: clock, logger: logger)
    declareGauges(metrics, lookUps)
  }

  /// In the order of need: what is first is stopped last, so that requests end before the commits they wait for.
  package var services: [any Service] {
    [
      PoolService(pool: pool), ClientService(client: client), ClientService(client: forwarder),
      ClientService(client: passing), ClientService(client: apple), ClientService(client: api),
      CommitService(commit: commit), delivery,
      revocationChecks, registry, housekeeping, readiness,
    ] + (seeding.map { [$0] } ?? []) + (keepingUp.map { [$0] } ?? []) + (consumption.map { [$0] } ?? [])
      + (diskWatch.map { [$0] } ?? []) + [ServerService(server: server)]
      + (metricsServer.map { [ServerService(server: $0)] } ?? [])
      + (seeding.map { [EndOfWaits(seeding: $0)] } ?? [])
  }

  private func declareGauges(_ metrics: MetricsRegistry, _ lookUps: LookUps) {
    if let diskWatch {
      metrics.gauge(
        "switchyard_disk_free_bytes", help: "Bytes that may still be written where the private database is."
      ) { Double(diskWatch.free ?? 0) }
      metrics.gauge(
        "switchyard_disk_headroom_bytes",
        help: "Bytes that are to stay free: below it nothing unproven is kept, below a quarter nothing at all."
      ) { Double(diskWatch.headroom) }
    }
    metrics.gauge(
      "switchyard_large_look_ups_waiting",
      help: "Look-ups of customers with hundreds of purchases that wait for one of the slots of this process."
    ) { Double(lookUps.waiting) }
    metrics.gauge("switchyard_commit_waiting", help: "Messages that wait to be committed.") { [commit] in
      Double(commit.depth)
    }
    metrics.gauge(
      "switchyard_unopened_secrets",
      help: "Shared secrets of apps that do not open under the master keys; V1 notifications with them are set aside."
    ) { [registry] in Double(registry.directory.unopened.count) }
    metrics.gauge(
      "switchyard_distrusted_key_tables",
      help: "Tables of keys that contradicted OpenSSL since the start and are not used; above 0 is a bug, and harmless."
    ) { Double(KeyTables.distrustedInProcess) }
    metrics.gauge("switchyard_database_connections_in_use", help: "Database connections at work.") { [pool] in
      Double(pool.figures.inUse)
    }
    metrics.gauge("switchyard_database_callers_waiting", help: "Callers that wait for a database connection.") {
      [pool] in
      Double(pool.figures.waiting)
    }
    metrics.gauge(
      "switchyard_database_retries",
      help: "Transactions done again since the start, after deadlocks and lost connections."
    ) { [pool] in Double(pool.figures.retries) }
  }
}

/// Closes the pool when everything that borrows from it has ended.
private struct PoolService: Service {
  let pool: Pool

  func run() async throws {
    await untilCancelled()
    await pool.close()
  }
}

/// Closes its connections when everybody who sends has ended.
private struct ClientService: Service {
  let client: HTTPClient

  func run() async throws {
    await untilCancelled()
    await client.shutdown()
  }
}

/// Stopped first: requests that wait for a look-up are answered with what is known, and do not hold up the server's stop.
private struct EndOfWaits: Service {
  let seeding: Seeding

  func run() async throws {
    await untilCancelled()
    seeding.endWaits()
  }
}

private struct CommitService: Service {
  let commit: GroupCommit

  func run() async throws { await commit.run() }
}

private struct ServerService: Service {
  let server: HTTPServer

  func run() async throws { try await server.run() }
}

extension GroupCommit {
  /// What became of each, in their order, once they are committed.
  fileprivate func append(all entries: [Entry]) async throws -> [Appended] {
    try await withThrowingTaskGroup(of: (Int, Appended).self) { group in
      for (place, entry) in entries.enumerated() {
        group.addTask {
          do throws(Failure) {
            // In a line of its own: optimised, Swift 6.3 loses the place when the tuple is made around the call.
            let appended = try await self.append(entry)
            return (place, appended)
          } catch .stageChanged {
            return (place, .stageChanged)
          }
        }
      }
      var appended = [Appended](repeating: .stageChanged, count: entries.count)
      for try await (place, one) in group { appended[place] = one }
      return appended
    }
  }
}
