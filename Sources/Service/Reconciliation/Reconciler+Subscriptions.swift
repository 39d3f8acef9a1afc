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

  func compareSubscriptions(
    _ place: AskablePlace, _ plan: Plan, from start: Milliseconds, to now: Milliseconds,
    _ report: inout ReconciliationReport
  ) async throws {
    var (quiet, last): (QuietCustomers, String?) = (QuietCustomers(atMost: plan.lookUps), nil)
    while let slice = try await ledger.slice(of: place.app, place.environment, after: last, limit: Self.sliceLength) {
      try Task.checkCancellation()
      last = slice.originalTransactionIDs.last
      let found = quietOnes(slice, plan, at: now)
      let asked = try await datesAsked(of: found.keys.sorted(), place)
      // Of a customer's ids always the same is first: by it they were asked about before.
      for (original, heard) in found.sorted(by: { $0.key < $1.key }) {
        let news = max(heard, asked[original] ?? heard)
        quiet.add(slice.customers[original] ?? original, askedBy: original, lastNews: news)
      }
      measure(slice, from: start, to: now, &report.renewals)
    }
    let asked = quiet.chosen
    report.postponed = quiet.count - asked.count
    if plan.isDry { report.lookedUp = asked.count }
    guard !plan.isDry, !asked.isEmpty else { return }
    for start in stride(from: 0, to: asked.count, by: Self.sliceLength) {
      try Task.checkCancellation()
      try await seeding.askAgain(
        Array(asked[start...].prefix(Self.sliceLength)), of: place.app, in: place.environment,
        unlessDoneSince: clock.now() - plan.recent)
    }
    let states = try await seeding.settled(asked, of: place.app, in: place.environment, within: plan.patience)
    for state in states.values {
      switch state {
      case .waiting: report.pending += 1
      case .done: report.lookedUp += 1
      case .unknown: (report.lookedUp, report.unknownToApple) = (report.lookedUp + 1, report.unknownToApple + 1)
      case .failed: (report.lookedUp, report.failed) = (report.lookedUp + 1, report.failed + 1)
      }
    }
    report.renewals = try await renewals(place, from: start, to: now)
  }

  private func datesAsked(of ids: [String], _ place: AskablePlace) async throws -> [String: Milliseconds] {
    if ids.isEmpty { return [:] }
    return try await ledger.pool.read { session throws(DatabaseError) in
      try WorkTable.datesAsked(of: ids, in: place.scope, session)
    }
  }

  /// Of everybody, as they are known now.
  private func renewals(
    _ place: AskablePlace, from start: Milliseconds, to now: Milliseconds
  ) async throws -> [Milliseconds: Completeness] {
    var (days, last): ([Milliseconds: Completeness], String?) = ([:], nil)
    while let slice = try await ledger.slice(of: place.app, place.environment, after: last, limit: Self.sliceLength) {
      try Task.checkCancellation()
      last = slice.originalTransactionIDs.last
      measure(slice, from: start, to: now, &days)
    }
    return days
  }

  private func measure(
    _ slice: CustomerSlice, from start: Milliseconds, to now: Milliseconds, _ days: inout [Milliseconds: Completeness]
  ) {
    for (subscription, events) in subscriptions(of: slice) {
      for renewal in subscription.expectedRenewals(from: start, to: now, allowing: Self.allowance, told: events) {
        days[renewal.date.startOfDay, default: Completeness()].count(renewal.outcome)
      }
    }
  }

  /// The originalTransactionIds of which something should have been heard, and when something was for the last time.
  private func quietOnes(_ slice: CustomerSlice, _ plan: Plan, at now: Milliseconds) -> [String: Milliseconds] {
    var heard: [String: Milliseconds] = [:]
    for (original, asOf) in slice.purchases.map({ ($0.key.originalTransactionID, $0.rank.asOf) })
      + slice.renewals.map({ ($0.key.originalTransactionID, $0.rank.asOf) })
    {
      // What Apple dated ahead of our clock was said now at the latest.
      heard[original] = max(heard[original] ?? .init(0), min(asOf, now))
    }
    let silent = Set(
      subscriptions(of: slice).filter { $0.0.silence(at: now, allowing: Self.allowance) != nil }
        .map(\.0.key.originalTransactionID))
    return heard.filter { original, date in
      silent.contains(original) || plan.quiet.map { date + $0 <= now } ?? false
    }
  }

  private func subscriptions(of slice: CustomerSlice) -> [(Subscription, [Event])] {
    let purchases = Purchase.fold(slice.purchases, rules: vocabulary.purchases.rules)
    let bySubscription = Dictionary(grouping: purchases, by: \.key.subscription)
    let renewals = Dictionary(grouping: slice.renewals, by: \.key)
    let events = Dictionary(grouping: slice.events) { $0.originalTransactionID ?? "" }
    return bySubscription.compactMap { key, purchases in
      Subscription(
        key: key, purchases: purchases, renewal: Folded(renewals[key] ?? [], rules: vocabulary.renewals.rules)
      ).map { ($0, events[key.originalTransactionID] ?? []) }
    }
  }
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
