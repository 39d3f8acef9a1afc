package import Database
import Ledger
package import Rollout
package import Time

extension RolloutEvidence {
  /// The maximum age of comparisons that count.
  package static let comparedWithin = Interval.days(14)
  /// Newer IDs may still wait.
  private static let seedsWithin = Interval.minutes(15)

  package static func read(
    _ standing: AppRollout, _ demand: Requirements, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> RolloutEvidence {
    let scope = standing.scope
    var evidence = RolloutEvidence()
    (evidence.hasAPIKey, evidence.hasSharedSecret) = (standing.hasAPIKey, standing.hasSharedSecret)
    let young = standing.hasAPIKey ? now - seedsWithin : now
    evidence.ids = try openIDs(standing, young: young, in: session)
    let since = max(now - comparedWithin, standing.flag.recordingSince)
    let figures = try ComparisonStatistics.read(scope, since: since, in: session)
    (evidence.customers, evidence.affected) = (figures.customers, figures.affected)
    evidence.incomplete = figures.incomplete
    evidence.step = try step(standing, since: since, in: session)
    evidence.breach = try breach(standing, at: now, in: session)
    try evidence.readDays(scope, demand, since: standing.flag.recordingSince, at: now, in: session)
    return evidence
  }

  private static func openIDs(
    _ standing: AppRollout, young: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> OpenIDs {
    let (scope, flag) = (standing.scope, standing.flag)
    var ids = OpenIDs()
    let seeds = try HistoryJobTable.unsettled(
      in: scope, createdBefore: young, unknownSince: flag.acceptedUnknownAt ?? Timestamp(.min), session)
    (ids.waiting, ids.failed, ids.unknown) = (seeds.open, seeds.failed, seeds.unknown)
    let unasked = try UnfetchedIDs.read(
      in: scope, handedOutSince: young, cancelledAfter: flag.acceptedCancelledAt ?? Timestamp(.min), session)
    (ids.migrating, ids.cancelled) = (unasked.waiting, unasked.cancelled)
    ids.cancelledMigration = unasked.cancelledJob
    ids.unreadParts = try UnfetchedIDs.unreadParts(in: scope, session)
    return ids
  }

  /// Returns the comparisons since the percentage was set.
  private static func step(
    _ standing: AppRollout, since instant: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> GuardObservation? {
    guard standing.flag.share != nil else { return nil }
    let start = max(instant, standing.flag.changedAt)
    let figures = try ComparisonStatistics.read(standing.scope, since: start, in: session)
    return GuardObservation(
      rule: try GuardTable.rule(of: standing.scope, in: session), customers: figures.customers,
      affected: figures.affected)
  }

  /// Returns the guard's present result, by its own rule and window, or `nil` if no caller gets Switchyard's responses.
  private static func breach(
    _ standing: AppRollout, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> GuardBreach? {
    guard standing.isAnswered else { return nil }
    let rule = try GuardTable.rule(of: standing.scope, in: session)
    let figures = try GuardStatistics.read(
      standing.scope, by: rule, since: standing.flag.changedAt, at: now, in: session)
    return rule.verdict(of: figures).breach
  }

  /// Reads the whole days before today, by Apple's notification history if it has any, otherwise by renewals.
  private mutating func readDays(
    _ scope: AppScope, _ demand: Requirements, since recording: Timestamp, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let today = Timestamp(now.sinceEpoch / 86_400_000 * 86_400_000)
    let start = today - .days(Int64(demand.completeDays))
    let rows = try CompletenessTable.read(from: start, app: scope.app, in: session).filter {
      $0.scope == scope && $0.day < today && $0.day >= recording
    }
    let counted = rows.filter { $0.measure == .notifications }
    let days = counted.isEmpty ? rows : counted
    // A measurement during its day does not cover the rest of it.
    let whole = Set(days.filter { $0.measuredAt >= $0.day + .days(1) }.map(\.day))
    let all = (0..<demand.completeDays).map { start + .days(Int64($0)) }
    let others = all.filter { $0 >= recording && !whole.contains($0) }
    measuredDays = try whole.count + Self.quiet(others, of: scope, since: recording, at: now, in: session)
    // On a day without notifications, a renewal may show that one is missing.
    let told = Set(days.map(\.day))
    let judged = days + rows.filter { $0.measure == .renewals && !told.contains($0.day) }
    incompleteDays = judged.count { $0.completeness.missing > 0 || $0.completeness.refused > 0 }
  }

  /// Returns the number of days that count without a whole row because Apple sent no notification.
  ///
  /// Apple's history of V2 notifications is also empty if Apple posts V1, or without a working URL. Notifications must
  /// therefore have arrived before the day, and must arrive now. The history must also have been compared an hour past
  /// the end of the day, when Apple has its data.
  private static func quiet(
    _ days: [Timestamp], of scope: AppScope, since recording: Timestamp, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    guard !days.isEmpty else { return 0 }
    let flow = try NotificationHealth.read(scope, at: now, in: session)
    guard flow.generation == .v2, flow.lastHeard != nil, flow.lostSince == nil, let compared = flow.comparedUntil else {
      return 0
    }
    var count = 0
    for day in days where day + .days(1) + .hours(1) <= compared {
      if try NotificationHealth.wasHeard(before: day, after: recording, of: scope, in: session) { count += 1 }
    }
    return count
  }
}
