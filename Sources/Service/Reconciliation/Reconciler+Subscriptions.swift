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
    // Customers are spread over slices, and each is asked about once, by this id.
    var asked: [String: String] = [:]
    var last: String?
    while let slice = try await ledger.slice(of: place.app, place.environment, after: last, limit: Self.sliceLength) {
      try Task.checkCancellation()
      last = slice.originalTransactionIDs.last
      var chosen: [String] = []
      for original in quietOnes(slice, plan, at: now) {
        let customer = slice.customers[original] ?? original
        guard asked[customer] == nil else { continue }
        guard asked.count < plan.lookUps else {
          report.postponed += 1
          continue
        }
        asked[customer] = original
        chosen.append(original)
      }
      if !plan.isDry, !chosen.isEmpty {
        try await seeding.askAgain(
          chosen, of: place.app, in: place.environment, unlessDoneSince: clock.now() - plan.recent)
      }
      measure(slice, from: start, to: now, &report.renewals)
    }
    if plan.isDry { report.lookedUp = asked.count }
    guard !plan.isDry, !asked.isEmpty else { return }
    let states = try await seeding.settled(
      Array(asked.values), of: place.app, in: place.environment, within: plan.patience)
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

  /// The originalTransactionIds of which something should have been heard.
  private func quietOnes(_ slice: CustomerSlice, _ plan: Plan, at now: Milliseconds) -> [String] {
    var chosen = Set(
      subscriptions(of: slice).filter { $0.0.silence(at: now, allowing: Self.allowance) != nil }
        .map(\.0.key.originalTransactionID))
    if let quiet = plan.quiet {
      var heard: [String: Milliseconds] = [:]
      for (original, asOf) in slice.purchases.map({ ($0.key.originalTransactionID, $0.rank.asOf) })
        + slice.renewals.map({ ($0.key.originalTransactionID, $0.rank.asOf) })
      { heard[original] = max(heard[original] ?? asOf, asOf) }
      // What Apple dated ahead of our clock was said now at the latest.
      chosen.formUnion(heard.filter { min($0.value, now) + quiet <= now }.keys)
    }
    return chosen.sorted()
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
