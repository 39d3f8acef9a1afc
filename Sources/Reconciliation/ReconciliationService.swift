package import AppStore
import Database
import Ledger
import Purchases
import Rollout
package import Runtime
import Seeding
package import Signing
package import Time

/// How Apple is asked by a running service, and how often by itself.
package struct AppStoreSettings: Sendable {
  package var hosts = AppStoreHosts.apple
  /// Within which bounds calls are paced.
  package var bounds: @Sendable (RateLimitKey) -> RateBounds = { .documented($0) }
  /// Whose signatures count in what Apple answers.
  package var verifier: SignedDataVerifier
  /// Nil: only when an operator asks.
  package var reconcileEvery: Interval? = .hours(24)
  package var heartbeatEvery: Interval? = .hours(24)
  /// How often Apple is asked for each customer's refunds; nil: never.
  package var refundSweepEvery: Interval? = .days(7)
  /// How long a TEST may take to come back.
  package var heartbeatWithin = Interval.minutes(10)

  package init(verifier: SignedDataVerifier) { self.verifier = verifier }
}

/// Compares each app with Apple on a schedule, and feels its pulse; of several processes one does each.
///
/// An app without a key of the App Store Server API, and one that only passes through, is left alone.
package struct ReconciliationService: Service {
  private let settings: AppStoreSettings
  private let reconciler: Reconciler
  private let heartbeat: HeartbeatMonitor?
  private let keys: Keyring
  private let metrics: ReconciliationMetrics
  private let logger: Logger

  private var pool: Pool { reconciler.ledger.pool }
  private var clock: WallClock { reconciler.clock }

  package init(
    _ reconciler: Reconciler, settings: AppStoreSettings, keys: Keyring, metrics: MetricsRegistry, logger: Logger
  ) {
    (self.reconciler, self.settings, self.keys, self.logger) = (reconciler, settings, keys, logger)
    self.metrics = ReconciliationMetrics(metrics)
    heartbeat = settings.heartbeatEvery.map { every in
      HeartbeatMonitor(
        client: reconciler.client, ledger: reconciler.ledger, every: every, within: settings.heartbeatWithin,
        clock: reconciler.clock)
    }
  }

  private static let period = Duration.seconds(30)
  /// Apple tries for three days: what it said four days ago is settled.
  private static let overlap = Interval.days(4)
  /// When one that ended early is made again, and when one whose process was killed.
  private static let (soon, lease) = (Interval.minutes(15), Interval.hours(1))
  private static let renewal = Duration.seconds(15 * 60)

  package func run() async throws {
    while !Task.isCancelled {
      do { try await tick() } catch {
        if !Task.isCancelled {
          logger.warning("keeping up with Apple failed; it is tried again", metadata: ["error": "\(error)"])
        }
      }
      try? await Task.sleep(for: Self.period)
    }
  }

  /// Does what is due now.
  func tick() async throws {
    let keys = keys
    let (places, unusable) = try await pool.read { session throws(DatabaseError) in
      try ReconciliationTarget.recording(with: keys, in: session)
    }
    for key in unusable {
      logger.warning(
        "a key of the App Store Server API cannot be used",
        metadata: ["name": "\(key.name)", "reason": "\(key.reason)"])
    }
    for place in places {
      try Task.checkCancellation()
      await feel(place)
      await reconcile(place)
    }
    try await measure()
  }

  private func feel(_ place: ReconciliationTarget) async {
    guard let heartbeat else { return }
    do {
      switch try await heartbeat.check(place) {
      case .waiting, .asked: break
      case .returned: logger.debug("heartbeat returned", metadata: place.metadata)
      case .unwatched(let reason):
        logger.info(
          "lost notifications are not noticed here",
          metadata: place.metadata.merging(["reason": "\(reason)"]) { first, _ in first })
      case .lost(let reason):
        logger.error(
          "a TEST notification did not come back: runbooks/missed-notifications.md",
          metadata: place.metadata.merging(["reason": "\(reason)"]) { first, _ in first })
      }
    } catch {
      logger.warning("the heartbeat was not checked", metadata: ["error": "\(error)"])
    }
  }

  private func reconcile(_ place: ReconciliationTarget) async {
    guard let every = settings.reconcileEvery, !Task.isCancelled else { return }
    do {
      let begun = clock.now()
      let isOurs = try await pool.transaction { session throws(DatabaseError) in
        try ReconciliationTable.claim(
          place.scope, every: every, lease: min(every, Self.lease), at: begun, in: session)
      }
      guard isOurs else { return }
      var plan = Reconciler.Plan()
      plan.since = try await pool.read { session throws(DatabaseError) in
        try ReconciliationTable.finished(place.scope, in: session)
      }.map { $0 - Self.overlap }
      // One that is made again soon does not ask about the same customers again.
      plan.recent = .milliseconds(every.milliseconds / 2)
      let report = try await holding(place, every) { [plan] in try await reconciler.run(place, plan) }
      tell(report, place)
      let now = clock.now()
      let next =
        report.isStopped ? now : report.unfinished.isEmpty ? begun + every : min(begun + every, now + Self.soon)
      // Also of a process that is stopping: the next one need not wait for the lease to end.
      try await withCancellationShield {
        try await pool.transaction(replayable: true) { session throws(DatabaseError) in
          try ReconciliationTable.plan(place.scope, next: next, every: every, in: session)
        }
      }
    } catch {
      guard !Task.isCancelled else { return }
      logger.warning(
        "the comparison with Apple ended early; it is made again within the hour",
        metadata: place.metadata.merging(["error": "\(error)"]) { first, _ in first })
    }
  }

  /// Runs `body`, and meanwhile keeps other processes from beginning the same.
  private func holding<Value: Sendable>(
    _ place: ReconciliationTarget, _ every: Interval, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        while true {
          // A stop ends the comparison, which is waited for.
          do { try await Task.sleep(for: Self.renewal) } catch { return nil }
          let next = clock.now() + min(every, Self.lease)
          try? await pool.transaction(replayable: true) { session throws(DatabaseError) in
            try ReconciliationTable.plan(place.scope, next: next, every: every, in: session)
          }
        }
      }
      while let ended = try await group.next() { if let ended { return ended } }
      throw CancellationError()
    }
  }

  private func tell(_ report: ReconciliationReport, _ place: ReconciliationTarget) {
    metrics.takenIn[place.labels].increment(by: UInt64(report.takenIn))
    metrics.lookedUp[place.labels].increment(by: UInt64(report.lookedUp))
    guard !report.isStopped else { return }
    for unfinished in report.unfinished {
      metrics.unfinished[place.labels + [unfinished.part.rawValue]].increment()
      logger.warning(
        "a part of the comparison with Apple ended early; it is made again soon",
        metadata: place.metadata.merging([
          "part": "\(unfinished.part.rawValue)", "error": "\(unfinished.error)",
        ]) { first, _ in first })
    }
    var said = place.metadata
    said["takenIn"] = "\(report.takenIn)"
    said["setAside"] = "\(report.setAside)"
    said["lookedUp"] = "\(report.lookedUp)"
    said["pending"] = "\(report.pending)"
    logger.log(level: report.takenIn + report.setAside > 0 ? .warning : .info, "compared with Apple", metadata: said)
  }

  /// For how many days the figures are shown.
  private static let shown = Interval.days(7)

  private func measure() async throws {
    let start = (clock.now() - Self.shown).startOfDay
    let (rows, heartbeats, apps) = try await pool.read { session throws(DatabaseError) in
      (
        try CompletenessTable.read(from: start, in: session), try HeartbeatTable.all(in: session),
        try AppTable.all(in: session)
      )
    }
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    var sums: [[String]: Completeness] = [:]
    for row in rows {
      guard let name = names[row.scope.app] else { continue }
      let labels = [name, row.scope.environment.rawValue, row.measure.name]
      sums[labels, default: Completeness()].add(row.completeness)
    }
    for (labels, sum) in sums {
      metrics.expected[labels].record(sum.expected)
      metrics.arrived[labels].record(sum.arrived)
      metrics.missing[labels].record(sum.missing)
    }
    for heartbeat in heartbeats {
      guard let name = names[heartbeat.scope.app] else { continue }
      metrics.heartbeatLost[name, heartbeat.scope.environment.rawValue].record(heartbeat.lostSince == nil ? 0 : 1)
    }
  }
}

extension ReconciliationTarget {
  /// Every app that keeps what it is sent, in each environment; beside them the keys that cannot be used.
  static func recording(
    with keys: Keyring, in session: borrowing Session
  ) throws(DatabaseError) -> (places: [Self], unusable: [CredentialTable.Unopened]) {
    let (askable, unusable) = try AppWithAPIKey.all(with: keys, in: session)
    let flags = try StageTable.all(in: session)
    let places = askable.flatMap { askable in
      [Environment.production, .sandbox].compactMap { ReconciliationTarget(askable, $0) }
    }
    return (places.filter { flags[$0.scope]?.stage.notifications == .record }, unusable)
  }

  var labels: [String] { [app.bundleID, environment.rawValue] }
  var metadata: Logger.Metadata {
    ["app": "\(app.bundleID)", "environment": "\(environment.rawValue)"]
  }
}
