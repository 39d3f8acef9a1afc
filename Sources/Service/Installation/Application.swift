package import Adapter
import Answering
import BulkMigration
package import Database
import Delivery
package import HTTPServer
import Intake
package import Ledger
import RevocationChecks
package import Runtime
import Seeding
import Shadow
package import Signing
package import Time

/// The connected parts of one process, for `serve` and the tests.
package struct Application: Sendable {
  package let server: HTTPServer
  /// The listener that serves only metrics; `nil` without one.
  package let metricsServer: HTTPServer?
  package let ledger: LedgerStore
  package let metrics: MetricsRegistry
  /// The services in order of dependency.
  ///
  /// The first stops last, so that requests end before the commits that they wait for.
  package let services: [any Service]

  /// Reads the registered apps and the revoked certificates once; the schema must exist.
  package init(
    pool: Pool, adapter: MessageDecoder, keys: Keyring, settings: Settings, clock: WallClock, logger: Logger
  ) async throws {
    let (metrics, ledger) = (MetricsRegistry(), LedgerStore(pool: pool, keys: keys))
    let counts = ServiceMetrics(metrics)
    let registry = try await AppRegistry(
      reading: {
        // Without one snapshot a reader could see a stage without the URL that was set with it.
        try await pool.snapshot { session throws(DatabaseError) in try AppTable.directory(with: keys, in: session) }
      },
      mark: { try await pool.read { session throws(DatabaseError) in try StageTable.mark(in: session) } },
      working: ProcessHeartbeat(name: settings.name, pool: pool, logger: logger).note,
      logger: logger)
    if let revocations = settings.revocations {
      revocations.learn(
        try await pool.read { session throws(DatabaseError) in try RevokedCertificateTable.all(in: session) })
    }
    let clients = HTTPClients(settings)
    let delivery = Delivery(
      pool: pool, bodies: ledger.bodies, settings: settings.delivery,
      post: Delivery.posting(over: clients.destinations),
      metrics: metrics, clock: clock, logger: logger)
    let diskWatch = settings.disk.map { DiskSpaceMonitor($0, logger: logger) }
    let memory = ResponseCache(kept: settings.answersKept)
    let commit = GroupCommit(
      ledger, limits: settings.commit, announce: { delivery.wake($0) }, written: { memory.note($0) },
      disk: { diskWatch?.level ?? .ample })
    let means = ServiceDependencies(
      keys: keys, ledger: ledger, registry: registry, intake: IngestDecider(adapter: adapter), commit: commit,
      clients: clients, metrics: metrics, counts: counts, clock: clock, logger: logger)
    let asking = settings.appStore.map { appStore in
      var seeding = settings.seeding
      seeding.processName = settings.name
      return AppleSyncServices(means, settings: appStore, seedingSettings: seeding)
    }
    let (readiness, lookUps) = (Readiness(pool: pool), PurchaseLookup(ledger))
    let health = HealthRoute(metrics: metrics) {
      if diskWatch?.level == .full { return "disk full" }
      return readiness.reason
        ?? (registry.directory.hasSecretOfAnotherKey
          ? "a registered shared secret does not open under this master key" : nil)
    }
    let answering = VerifyReceiptResponder(
      pool: pool,
      directory: VerifyReceiptResponder.Directory(
        current: { registry.directory }, hasCurrentStages: { registry.hasCurrentStages(within: $0) },
        refreshed: { await registry.refreshed(atMostEvery: Router.patience) }),
      reader: adapter.receipts, memory: memory, settings: settings.answering,
      composers: settings.composers, clock: clock, failed: Self.logging(to: logger),
      lookUp: { [seeding = asking?.seeding] in try await seeding?.lookUp($0, of: $1, in: $2, within: $3) })
    let times = ResponseTimes(
      pool: pool, every: settings.shadow.timesWrittenEvery,
      stageSetAt: { registry.directory.flag(of: $0)?.changedAt }, clock: clock, logger: logger)
    let shadow = ShadowComparer(
      answering: answering, pool: pool, keys: keys, settings: settings.shadow, times: times, metrics: metrics,
      disk: { diskWatch?.level ?? .ample }, clock: clock, logger: logger)
    let sample = LiveSampler(
      every: settings.answersSampledEvery, client: clients.verifyReceipt, upstream: settings.verifyReceipt,
      shadow: shadow, times: times, registry: registry)
    let webhook = settings.guardWebhook.map {
      GuardWebhook($0, client: clients.respondersAndBackEnds, metrics: metrics, logger: logger)
    }
    let guarding = RolloutGuard(
      pool: pool, announce: { webhook?.take($0) }, metrics: metrics, clock: clock, logger: logger)
    let router = Router(
      means, settings: settings, lookUps: lookUps, seeding: asking?.seeding, answering: answering, shadow: shadow,
      sample: sample, times: times, health: health)
    let server = Self.server(settings, router, metrics, logger)
    let metricsServer = settings.metricsListener.map { HTTPServer($0, handler: MetricsListener(health: health)) }
    (self.server, self.metricsServer, self.ledger, self.metrics) = (server, metricsServer, ledger, metrics)
    let parts: [(any Service)?] = [
      PoolService(pool: pool), clients, CommitService(commit: commit), delivery,
      settings.revocations.map {
        RevocationChecker(
          $0, responder: Responder(client: clients.respondersAndBackEnds), pool: pool, metrics: metrics,
          clock: clock, logger: logger)
      },
      registry, MaintenanceService(pool: pool, ledger: ledger, metrics: counts, clock: clock, logger: logger),
      readiness, times, shadow, sample, webhook, guarding,
      settings.carriesOutMigrations
        ? MigrationService(
          MigrationService.Dependencies(
            ledger: ledger, intake: means.intake, keys: keys,
            directory: { await registry.refreshed(atMostEvery: Router.patience) }, written: { memory.note($0) },
            disk: { diskWatch?.level ?? .ample }),
          settings: settings.migration, metrics: MigrationMetrics(metrics), clock: clock, logger: logger) : nil,
      asking?.seeding, asking?.keepingUp, asking?.refundSweep, asking?.consumption, diskWatch,
      ServerService(server: server),
      metricsServer.map(ServerService.init), asking.map { WaitShutdown(seeding: $0.seeding) },
    ]
    services = parts.compactMap(\.self)
    means.declareGauges(lookUps, diskWatch)
  }

  /// Logs one line a minute about errors that prevent an own verifyReceipt response; unknown stages separately.
  private static func logging(to logger: Logger) -> @Sendable (any Error) -> Void {
    let pace = LogRateLimiter()
    return { error in
      guard !Task.isCancelled, let others = pace.turn(of: error is StagesUnavailable ? "stages" : "answer") else {
        return
      }
      logger.error(
        "a verifyReceipt response could not be composed",
        metadata: ["error": "\(error)", "failuresSinceLastLine": "\(others + 1)"])
    }
  }

  private static func server(
    _ settings: Settings, _ router: Router, _ metrics: MetricsRegistry, _ logger: Logger
  ) -> HTTPServer {
    var http = settings.http
    http.classify = { [callers = settings.callers] in callers.connection(of: $0) }
    http.limits.reservedPercent = [.apple: 25, .known: 25, .anonymous: 25]
    // A response that waits for Apple to the end needs the time of the unfinished work: the grace, and the network.
    http.limits.answer = max(http.limits.answer, .seconds(HistoryWait.longest + 10))
    let counters = HTTPServerMetrics(metrics, logger: logger)
    let server = HTTPServer(http, handler: router) { counters.note($0) }
    counters.observe(server, in: metrics)
    return server
  }
}
