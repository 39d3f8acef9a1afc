import AppStore
import ConsumptionAnswers
import Database
import Intake
import Ledger
import Reconciliation
import Runtime
import Seeding
import Time

/// The services that send requests to Apple on a schedule.
struct AppleSyncServices {
  let seeding: HistoryJobWorker
  let keepingUp: ReconciliationService
  let refundSweep: RefundSweep?
  let consumption: ConsumptionResponder

  init(_ means: ServiceDependencies, settings: AppStoreSettings, seedingSettings: HistoryJobWorker.Settings) {
    let (pool, keys, clock, logger, commit) = (means.ledger.pool, means.keys, means.clock, means.logger, means.commit)
    let (seedingMetrics, timing) = (HistoryJobMetrics(means.metrics), CallTimeSource(clock: clock))
    let client = AppStoreClient(
      http: means.clients.appStoreServer, hosts: settings.hosts,
      gate: RateLimiter(store: DatabaseRateLimitStore(pool: pool), timing: timing, bounds: settings.bounds),
      timing: timing,
      observe: { seedingMetrics.note($0) })
    let answers = APIResponseRecorder(intake: means.intake, clock: clock, logger: logger) {
      try await commit.append($0)
    }
    seeding = HistoryJobWorker(
      pool: pool, client: client, read: { answers.read($0, $1, $2) },
      access: {
        try await pool.read { session throws(DatabaseError) in try AppWithAPIKey.seeding(with: keys, in: session) }
      }, settings: seedingSettings, metrics: seedingMetrics, clock: clock, logger: logger)
    let reconciler = Reconciler(
      client: client, verifier: settings.verifier, intake: means.intake, ledger: means.ledger, seeding: seeding,
      directory: { [registry = means.registry] in await registry.refreshed(atMostEvery: Router.patience) },
      record: { try await commit.append(all: $0) }, clock: clock)
    keepingUp = ReconciliationService(
      reconciler, settings: settings, keys: keys, metrics: means.metrics, logger: logger)
    refundSweep = settings.refundSweepEvery.map { every in
      RefundSweep(
        client: client, ledger: means.ledger, keys: keys, every: every, metrics: means.metrics, clock: clock,
        logger: logger, read: { answers.read($0, $1, $2) })
    }
    consumption = ConsumptionResponder(
      pool: pool, keys: keys, asking: means.clients.respondersAndBackEnds,
      telling: ConsumptionReport(client: client, pool: pool, keys: keys), metrics: means.metrics, clock: clock,
      logger: logger)
  }
}
