import Database
import Ledger
import Purchases
import Runtime
import Time

/// Performs periodic tasks: creates the next months' partitions, and measures figures that only the database has.
struct MaintenanceService: Service {
  let pool: Pool
  let ledger: LedgerStore
  let metrics: ServiceMetrics
  let clock: WallClock
  let logger: Logger

  private static let period = Duration.seconds(30)
  private static let deliveredKept = Interval.days(30)
  /// The retention of consumption responses, as long as Apple's own memory of its requests.
  private static let consumptionKept = Interval.days(180)
  /// The retention of comparisons; each sets its own for the responses.
  private static let comparisonsKept = Interval.days(120)
  private static let answerTimesKept = Interval.days(14)
  private static let purgedAtOnce = 1_000
  /// The interval between recounts of the quarantine, which correct rows that were changed without counting.
  private static let recountedEvery = Duration.seconds(3_600)
  /// The retention of settled claims and of finished requests to Apple.
  ///
  /// The comparison with Apple starts with the IDs that were not requested for longest.
  private static let claimsKept = Interval.days(30)

  func run() async throws {
    var recountedAt: ContinuousClock.Instant?
    while !Task.isCancelled {
      do {
        let now = clock.now()
        if recountedAt.map({ .now - $0 >= Self.recountedEvery }) ?? true {
          try await QuarantineUsageTable.recount(in: pool)
          recountedAt = .now
        }
        let usage = try await pool.read { session throws(DatabaseError) in
          try BodyPartitions.prepare(for: now, in: session)
          return try QuarantineTable.usage(in: session)
        }
        tellUnforwarded()
        tellUnqueuedIDs()
        try await measureOutbox(at: now)
        try await purge { session throws(DatabaseError) in
          try OutboxTable.purge(deliveredBefore: now - Self.deliveredKept, limit: Self.purgedAtOnce, in: session)
        }
        try await purge { session throws(DatabaseError) in
          try ConsumptionTable.purge(askedBefore: now - Self.consumptionKept, limit: Self.purgedAtOnce, in: session)
        }
        try await purge { session throws(DatabaseError) in
          try ComparisonTable.purge(
            at: now, before: now - Self.comparisonsKept, limit: Self.purgedAtOnce, in: session)
        }
        try await purge { session throws(DatabaseError) in
          try AnswerTimeTable.purge(before: now - Self.answerTimesKept, limit: Self.purgedAtOnce, in: session)
        }
        try await purgeClaims(at: now)
        for source in QuarantineSource.allCases {
          metrics.quarantined[source.rawValue].record(usage[source]?.messages ?? 0)
        }
      } catch {
        if !Task.isCancelled {
          logger.warning("housekeeping failed; it is tried again", metadata: ["error": "\(error)"])
        }
      }
      try? await Task.sleep(for: Self.period)
    }
  }

  private func tellUnforwarded() {
    let count = ledger.takeUnforwarded()
    guard count > 0 else { return }
    metrics.unforwarded[].increment(by: UInt64(count))
    logger.warning(
      "unproven messages not forwarded: too many are queued for the destination",
      metadata: ["count": "\(count)", "limit": "\(OutboxTable.mostUnproven)"])
  }

  private func tellUnqueuedIDs() {
    let count = ledger.takeUnqueuedIDs()
    guard count > 0 else { return }
    metrics.unqueuedIDs[].increment(by: UInt64(count))
    logger.warning(
      "ids of unsigned messages not queued for Apple: too many wait, or one address sent too many",
      metadata: ["count": "\(count)", "limit": "\(HistoryJobTable.mostUnproven)"])
  }

  private func purgeClaims(at now: Timestamp) async throws(DatabaseError) {
    let apps = try await pool.read { session throws(DatabaseError) in
      try AppTable.all(includingRemoved: true, in: session)
    }
    for app in apps {
      for environment in Environment.allCases {
        let scope = AppScope(app: app.id, environment: environment)
        try await purge { session throws(DatabaseError) in
          try HistoryJobTable.purgeUnproven(
            in: scope, dueBefore: now - Self.claimsKept, limit: Self.purgedAtOnce, session)
        }
      }
    }
  }

  private func measureOutbox(at now: Timestamp) async throws(DatabaseError) {
    let (destinations, depths, apps) = try await pool.read { session throws(DatabaseError) in
      (
        try DestinationTable.all(in: session), try OutboxTable.depths(in: session),
        try AppTable.all(includingRemoved: true, in: session)
      )
    }
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    for destination in destinations {
      let depth = depths[destination.id] ?? OutboxDepth()
      let labels = [
        names[destination.scope.app] ?? "", destination.scope.environment.rawValue, destination.name,
      ]
      metrics.outboxWaiting[labels].record(depth.waiting)
      metrics.outboxDead[labels].record(depth.dead)
      metrics.outboxOldestSeconds[labels].record(
        depth.oldest.map { Double(max(0, (now - $0).milliseconds)) / 1_000 } ?? 0)
    }
  }

  private func purge(
    _ some: @Sendable (Session) throws(DatabaseError) -> Int
  ) async throws(DatabaseError) {
    var purged = Self.purgedAtOnce
    while purged == Self.purgedAtOnce, !Task.isCancelled {
      purged = try await pool.transaction(replayable: true, some)
    }
  }
}
