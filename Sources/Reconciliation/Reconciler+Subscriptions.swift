import Database
import Ledger
import Mappings
import Purchases
import Seeding
import Time

/// Subscriptions that should have renewed and customers without news, found in the ledger and asked about.
extension Reconciler {
  /// How long after a period's end its news may still be on the way.
  private static let allowance = Interval.hours(24)
  private static let sliceLength = 200
  /// Of the look-ups, one in so many at most is for ids that nothing signed names.
  private static let claimedPart = 10
  /// Apple keeps no history of V1's notifications: a customer of whom one was lost is found by asking about everybody in
  /// turn, the longest unasked first, as far as look-ups are left.
  private static let turn = Interval.hours(20)

  func compareSubscriptions(
    _ place: ReconciliationTarget, _ plan: Plan, from start: Timestamp, to now: Timestamp,
    _ report: inout ReconciliationReport
  ) async throws {
    let asksInTurn = try await isToldByV1(place)
    var inTurn = OverdueCustomers(atMost: plan.lookUps)
    var (quiet, last): (OverdueCustomers, String?) = (OverdueCustomers(atMost: plan.lookUps), nil)
    // Anybody with the shared secret can make as many of these ids as they like.
    var claimed = OverdueCustomers(atMost: max(1, plan.lookUps / Self.claimedPart))
    while let slice = try await ledger.slice(of: place.app, place.environment, after: last, limit: Self.sliceLength) {
      try Task.checkCancellation()
      last = slice.originalTransactionIDs.last
      let found = customers(in: slice, plan, at: now).filter {
        $0.value.isQuiet || $0.value.claimedAt != nil || asksInTurn && $0.value.isSigned
      }
      let asked = try await datesAsked(of: found.keys.sorted(), place)
      // Of a customer's ids always the same is first: by it they were asked about before.
      for (original, known) in found.sorted(by: { $0.key < $1.key }) {
        let news = max(known.lastNews, asked[original] ?? known.lastNews)
        let customer = slice.customers[original] ?? original
        if !known.isQuiet, !known.hasClaim(since: asked[original]) {
          if asksInTurn, known.isSigned, (asked[original] ?? known.lastNews) + Self.turn <= now {
            inTurn.add(customer, askedBy: original, lastNews: news)
          }
        } else if known.isSigned {
          quiet.add(customer, askedBy: original, lastNews: news)
        } else {
          claimed.add(customer, askedBy: original, lastNews: news)
        }
      }
      measure(slice, from: start, to: now, &report.renewals)
    }
    let missing = quiet.chosen
    let confirmed = Array(claimed.chosen.prefix(plan.lookUps - missing.count))
    report.postponed = quiet.count + claimed.count - missing.count - confirmed.count
    let others = inTurn.chosen.prefix(plan.lookUps - missing.count - confirmed.count)
    let chosen: [(ids: [String], queue: HistoryJobTable.Queue)] = [
      (missing + others, .requested), (confirmed, .claimed),
    ].filter { !$0.0.isEmpty }
    let count = chosen.reduce(0) { $0 + $1.ids.count }
    if plan.isDry { report.lookedUp = count }
    guard !plan.isDry, count > 0 else { return }
    for (ids, queue) in chosen {
      for start in stride(from: 0, to: ids.count, by: Self.sliceLength) {
        try Task.checkCancellation()
        try await seeding.askAgain(
          Array(ids[start...].prefix(Self.sliceLength)), of: place.app, in: place.environment, queue,
          unlessDoneSince: clock.now() - plan.recent)
      }
    }
    for (ids, queue) in chosen {
      let states = try await seeding.settled(ids, of: place.app, in: place.environment, queue, within: plan.patience)
      for state in states.values {
        switch state {
        case .waiting: report.pending += 1
        case .done: report.lookedUp += 1
        case .unknown: (report.lookedUp, report.unknownToApple) = (report.lookedUp + 1, report.unknownToApple + 1)
        case .failed: (report.lookedUp, report.failed) = (report.lookedUp + 1, report.failed + 1)
        }
      }
    }
    report.renewals = try await renewals(place, from: start, to: now)
  }

  /// Whether V1's notifications alone tell of the app's customers.
  private func isToldByV1(_ place: ReconciliationTarget) async throws -> Bool {
    let (last, heartbeat) = try await ledger.pool.read { session throws(DatabaseError) in
      (
        try NotificationHealth.lastHeard(of: place.scope, in: session),
        try HeartbeatTable.last(of: place.scope, in: session)
      )
    }
    // Anybody with the shared secret can send V1: where a heartbeat ever came back, Apple is set to send V2.
    guard let v1 = last[.v1], heartbeat?.returnedAt == nil || heartbeat?.token == nil else { return false }
    return last[.v2].map { $0 + NotificationHealth.heard < v1 } ?? true
  }

  private func datesAsked(of ids: [String], _ place: ReconciliationTarget) async throws -> [String: Timestamp] {
    if ids.isEmpty { return [:] }
    return try await ledger.pool.read { session throws(DatabaseError) in
      try HistoryJobTable.datesAsked(of: ids, in: place.scope, session)
    }
  }

  /// Of everybody, as they are known now.
  private func renewals(
    _ place: ReconciliationTarget, from start: Timestamp, to now: Timestamp
  ) async throws -> [Timestamp: Completeness] {
    var (days, last): ([Timestamp: Completeness], String?) = ([:], nil)
    while let slice = try await ledger.slice(of: place.app, place.environment, after: last, limit: Self.sliceLength) {
      try Task.checkCancellation()
      last = slice.originalTransactionIDs.last
      measure(slice, from: start, to: now, &days)
    }
    return days
  }

  private func measure(
    _ slice: CustomerSlice, from start: Timestamp, to now: Timestamp, _ days: inout [Timestamp: Completeness]
  ) {
    for (subscription, events) in subscriptions(of: slice) {
      let counted = subscription.counted
      for renewal in counted.expectedRenewals(from: start, to: now, allowing: Self.allowance, told: events) {
        days[renewal.date.startOfDay, default: Completeness()].count(renewal.outcome)
      }
    }
  }

  /// What is known of an originalTransactionId of which news may be missing.
  private struct Quiet {
    /// Whether something should have been heard.
    var isQuiet: Bool
    /// Whether anything signed names it.
    var isSigned: Bool
    /// When something that counts was heard for the last time.
    var lastNews: Timestamp
    /// As of when an unsigned source last said something that no signed source confirms.
    var claimedAt: Timestamp?

    /// Whether something was claimed after Apple was asked for the last time.
    func hasClaim(since asked: Timestamp?) -> Bool { claimedAt.map { $0 > asked ?? .init(.min) } ?? false }
  }

  /// What is known by originalTransactionId.
  private func customers(in slice: CustomerSlice, _ plan: Plan, at now: Timestamp) -> [String: Quiet] {
    var found: [String: Quiet] = [:]
    let statements =
      slice.purchases.map { ($0.key.originalTransactionID, $0.source, $0.rank.asOf) }
      + slice.renewals.map { ($0.key.originalTransactionID, $0.source, $0.rank.asOf) }
    for (original, source, asOf) in statements {
      // V1 data is no news: a customer that only V1 knows is asked about first.
      let news = source.isSigned ? min(asOf, now) : .init(0)
      // What Apple dated ahead of our clock was said now at the latest.
      let known = found[original]?.lastNews ?? news
      let isSigned = source.isSigned || found[original]?.isSigned == true
      found[original] = Quiet(isQuiet: false, isSigned: isSigned, lastNews: max(known, news))
    }
    for (subscription, _) in subscriptions(of: slice) {
      let original = subscription.key.originalTransactionID
      if subscription.counted.overdueRenewal(at: now, allowing: Self.allowance) != nil {
        found[original]?.isQuiet = true
      }
      if subscription.accessDecision(at: now).hasUnconfirmedWord {
        found[original]?.claimedAt = subscription.lastClaimed
      }
    }
    if let length = plan.quiet {
      for (original, quiet) in found where quiet.lastNews + length <= now { found[original]?.isQuiet = true }
    }
    return found
  }

  private func subscriptions(of slice: CustomerSlice) -> [(Subscription, [Event])] {
    let purchases = Purchase.fold(slice.purchases, rules: vocabulary.purchases.rules)
    let bySubscription = Dictionary(grouping: purchases, by: \.key.subscription)
    let renewals = Dictionary(grouping: slice.renewals, by: \.key)
    let events = Dictionary(grouping: slice.events) { $0.originalTransactionID ?? "" }
    return bySubscription.compactMap { key, purchases in
      Subscription(
        key: key, purchases: purchases, renewal: Resolved(renewals[key] ?? [], rules: vocabulary.renewals.rules)
      ).map { ($0, events[key.originalTransactionID] ?? []) }
    }
  }
}

extension Subscription {
  /// The subscription by the sources that count as news of it: the signed ones, if it has any.
  fileprivate var counted: Subscription { signed ?? self }
}

extension Completeness {
  fileprivate mutating func count(_ outcome: ExpectedRenewal.Outcome) {
    expected += 1
    switch outcome {
    case .told: arrived += 1
    case .learned: recovered += 1
    case .unheard: break
    }
  }
}
