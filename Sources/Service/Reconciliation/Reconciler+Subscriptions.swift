package import Adapter
import AppStore
import Ledger
import Mappings
import Purchases
import Time
import Wire

/// Subscriptions that should have renewed and customers without news, found in the ledger and asked about.
extension Reconciler {
  /// How long after a period's end its news may still be on the way.
  private static let allowance = Interval.hours(24)
  private static let sliceLength = 200

  func compareSubscriptions(
    _ place: AskablePlace, _ plan: Plan, from start: Milliseconds, to now: Milliseconds,
    _ report: inout ReconciliationReport
  ) async throws {
    // Customers are spread over slices, and each is asked about once.
    var asked: Set<String> = []
    var last: String?
    while let slice = try await ledger.slice(
      of: place.app, place.environment, after: last, limit: Self.sliceLength)
    {
      try Task.checkCancellation()
      last = slice.originalTransactionIDs.last
      var isChanged = false
      for original in quietOnes(slice, plan, at: now) {
        let customer = slice.customers[original] ?? original
        guard !asked.contains(customer) else { continue }
        guard asked.count < plan.lookUps else {
          report.postponed += 1
          continue
        }
        asked.insert(customer)
        report.lookedUp += 1
        if plan.isDry { continue }
        try await lookUp(original, place, &report)
        isChanged = true
      }
      let known =
        isChanged
        ? try await ledger.slice(of: slice.originalTransactionIDs, app: place.app, place.environment) : slice
      for (subscription, events) in subscriptions(of: known) {
        for renewal in subscription.expectedRenewals(
          from: start, to: now, allowing: Self.allowance, told: events)
        {
          report.renewals[renewal.date.startOfDay, default: Completeness()].count(renewal.outcome)
        }
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
      chosen.formUnion(heard.filter { $0.value + quiet <= now }.keys)
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

  /// The customer's history and the statuses of his subscriptions, taken in as answers of ours.
  private func lookUp(
    _ original: String, _ place: AskablePlace, _ report: inout ReconciliationReport
  ) async throws {
    do {
      let pages = Pages(
        HistoryPages(of: original), client, as: place.credentials, in: place.api, verifiedBy: verifier)
      for try await page in pages where !page.items.isEmpty { try await take(page.reply.body, place, &report) }
      let statuses = try await client.send(
        .subscriptionStatuses(of: original), as: place.credentials, in: place.api, .bulk)
      // Who never subscribed has none, and then nothing is signed.
      if statuses.answer.data?.isEmpty == false { try await take(statuses.body, place, &report) }
    } catch let failure as CallFailure {
      guard failure.code == .refused, failure.status == 404 else { throw failure }
      report.unknownToApple += 1
    }
  }

  private func take(_ body: [UInt8], _ place: AskablePlace, _ report: inout ReconciliationReport) async throws {
    let now = clock.now()
    let message = InboxMessage(
      kind: .apiAnswer, body: body,
      identity: Adapter.identity(ofEvidence: body, app: place.app.bundleID, environment: place.environment),
      receivedAt: now)
    let decision = intake.apiAnswer(message, app: place.app, environment: place.environment, now: now)
    if let refusal = decision.refusal { throw UnreadableAnswer(reason: refusal) }
    if try await record([decision.entry]) == [.stageChanged] { report.left += 1 }
  }
}

/// An answer of Apple's that cannot be taken in: nothing of it is kept, and asking again gives another.
package struct UnreadableAnswer: Error, CustomStringConvertible {
  package let reason: Refusal

  package var description: String { "an answer of Apple's cannot be taken in: \(reason.code): \(reason.detail)" }
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
