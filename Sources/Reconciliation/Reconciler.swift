import Adapter
package import AppStore
import Database
package import Intake
package import Ledger
package import Mappings
package import Purchases
import Runtime
package import Seeding
package import Signing
package import Time

/// Compares what is known of one app in one environment with what Apple says, and takes in what is missing.
///
/// First the notifications that Apple says it sent, then the subscriptions of which nothing was heard. What is found goes
/// the road of everything: intake, commit; whoever is to be asked about is work, which `HistoryJobWorker` does. Doing it again, or
/// being killed within, changes nothing.
package struct Reconciler: Sendable {
  /// What is to be compared.
  package struct Plan: Sendable {
    /// From when on; nil: as far back as Apple's history reaches, 180 days.
    package var since: Timestamp?
    /// Asks Apple only for notifications that no server took; then nothing is measured.
    package var onlyFailures = false
    /// Asks also about customers of whom nothing was said for so long, whatever their subscriptions are.
    package var quiet: Interval?
    /// Customers looked up at most.
    package var lookUps = 10_000
    /// Whoever was looked up so recently is not asked about again.
    package var recent = HistoryJobWorker.recent
    /// How long look-ups are waited for; what is not done by then is done later.
    package var patience = Interval.minutes(10)
    /// Says what is missing and takes nothing in.
    package var isDry = false

    package init() {}
  }

  let client: AppStoreClient
  let verifier: SignedDataVerifier
  let intake: IngestDecider
  let ledger: LedgerStore
  let seeding: HistoryJobWorker
  let vocabulary: Vocabulary
  let directory: @Sendable () async throws -> AppRegistrySnapshot
  let record: @Sendable ([LedgerEntry]) async throws -> [AppendResult]
  let clock: WallClock

  /// - Parameters:
  ///   - record: writes entries and tells what became of each, in their order, once they are committed.
  package init(
    client: AppStoreClient, verifier: SignedDataVerifier, intake: IngestDecider, ledger: LedgerStore,
    seeding: HistoryJobWorker,
    vocabulary: Vocabulary = .embedded, directory: @escaping @Sendable () async throws -> AppRegistrySnapshot,
    record: @escaping @Sendable ([LedgerEntry]) async throws -> [AppendResult], clock: WallClock
  ) {
    self.client = client
    self.verifier = verifier
    self.intake = intake
    self.ledger = ledger
    self.seeding = seeding
    self.vocabulary = vocabulary
    self.directory = directory
    self.record = record
    self.clock = clock
  }

  /// Apple keeps so much of its notification history.
  static let reach = Interval.days(180)

  /// Compares, and keeps the measures of whole days.
  ///
  /// A part that fails ends alone: what it found so far is kept, the report says why. A cancelled task ends it early; the
  /// report then tells what was done until then. Throws only when the ledger does not take the measures.
  package func run(_ place: ReconciliationTarget, _ plan: Plan) async throws -> ReconciliationReport {
    let now = clock.now()
    // A moment within the reach, so that Apple's clock may be ahead of ours.
    let farthest = now - Self.reach + .minutes(10)
    let start = max((plan.since ?? farthest).startOfDay, farthest)
    var report = ReconciliationReport(since: start, until: now)
    do {
      try await compareNotifications(place, plan, from: start, to: now, &report)
    } catch { report.end(.notifications, because: error) }
    if plan.onlyFailures { return report }
    do {
      try Task.checkCancellation()
      try await compareSubscriptions(place, plan, from: start, to: now, &report)
    } catch { report.end(.subscriptions, because: error) }
    let found = report
    if !plan.isDry {
      try await withCancellationShield { try await keep(found, place, isWhole: start == farthest, at: now) }
    }
    return report
  }

  private func keep(
    _ report: ReconciliationReport, _ place: ReconciliationTarget, isWhole: Bool, at now: Timestamp
  ) async throws {
    // The first day is whole only where it was asked about from its beginning.
    let first = report.since == report.since.startOfDay ? report.since : report.since.startOfDay + .days(1)
    let notifications = report.hasEnded(.notifications) ? [:] : report.notifications.filter { $0.key >= first }
    let renewals = report.hasEnded(.subscriptions) ? [:] : report.renewals.filter { $0.key >= first }
    // What nobody wrote is to be found again.
    let isDone = report.unfinished.isEmpty && report.left == 0
    let since = isWhole ? nil : report.since
    try await ledger.pool.transaction(replayable: true) { session throws(DatabaseError) in
      try CompletenessTable.put(notifications, .notifications, of: place.scope, at: now, in: session)
      try CompletenessTable.put(renewals, .renewals, of: place.scope, at: now, in: session)
      if isDone { try ReconciliationTable.finish(place.scope, from: since, until: now, in: session) }
    }
  }
}

/// Where Apple is asked: an app in one environment.
package struct ReconciliationTarget: Sendable {
  package let app: App
  package let credentials: AppCredentials
  package let environment: Environment
  let api: APIEnvironment

  /// Nil for an environment that Apple's servers know nothing of.
  package init?(_ askable: AppWithAPIKey, _ environment: Environment) {
    guard let api = APIEnvironment(environment) else { return nil }
    (app, credentials, self.environment, self.api) = (askable.app, askable.credentials, environment, api)
  }

  package var scope: AppScope { AppScope(app: app.id, environment: environment) }
}

extension Timestamp {
  private static let day: Int64 = 86_400_000

  /// The first millisecond of its day in UTC.
  package var startOfDay: Timestamp {
    let rest = sinceEpoch % Self.day
    return Timestamp(sinceEpoch - (rest < 0 ? rest + Self.day : rest))
  }
}
