package import Ledger
package import LegacyAnswers
package import Mappings
package import Purchases
package import Receipts
package import Time

/// The ledger's resolved data of a customer: the facts of a response, and the inputs of its freshness.
///
/// Pure. Only data that Apple signed in V2 enters a response; claims of unsigned messages never do.
package struct ResolvedCustomer: Sendable {
  private let knowledge: CustomerStatements
  private let purchases: [Purchase]
  private let subscriptions: [Subscription]

  package init(_ knowledge: CustomerStatements, vocabulary: Vocabulary = .embedded) {
    self.knowledge = knowledge
    purchases = Purchase.fold(knowledge.purchases, rules: vocabulary.purchases.rules)
    var below: [String: [Purchase]] = [:]
    for purchase in purchases where purchase.isSubscription {
      below[purchase.key.originalTransactionID, default: []].append(purchase)
    }
    let renewals = Dictionary(grouping: knowledge.renewals) { $0.key.originalTransactionID }
    subscriptions = below.sorted { $0.key < $1.key }.compactMap { id, periods in
      Subscription(
        key: periods[0].key.subscription, purchases: periods,
        renewal: renewals[id].flatMap { Resolved($0, rules: vocabulary.renewals.rules) })
    }
  }

  var rowCount: Int { purchases.count }

  package var facts: CustomerFacts {
    var answered: [PurchaseKey: PurchaseStatement] = [:]
    for statement in knowledge.answered where statement.rank >= answered[statement.key]?.rank ?? statement.rank {
      answered[statement.key] = statement
    }
    return CustomerFacts(
      transactions: purchases.map { purchase in
        let row = answered[purchase.key].map { statement in
          CustomerFacts.AppleOnlyFields(
            transactionID: statement.facts.text(.transactionId),
            originalPurchaseDate: statement.facts.date(.originalPurchaseDate))
        }
        return CustomerFacts.Transaction(purchase.facts, answered: row)
      }, renewals: renewals)
  }

  /// Returns the facts for a response to `receipt`.
  package func facts(for receipt: Receipt, at now: Timestamp) -> CustomerFacts {
    var facts = facts
    facts.isForgotten = isForgotten(receipt, at: now)
    return facts
  }

  /// Whether Apple recently reported all of the receipt's IDs as unknown, well after its creation, with no end in it
  /// since.
  ///
  /// Then Apple has no data about it.
  private func isForgotten(_ receipt: Receipt, at now: Timestamp) -> Bool {
    guard let since = knowledge.forgottenSince, purchases.isEmpty, now < since + Self.oblivion,
      let made = receipt.signedAt, made + .hours(1) <= since
    else { return false }
    return !Self.ends(in: receipt).values.contains { since < $0 && $0 <= now }
  }

  /// The time for which Apple's report of unknown IDs is trusted.
  private static let oblivion = Interval.hours(24)

  /// The renewals in the order in which the subscriptions were first bought.
  private var renewals: [CustomerFacts.Renewal] {
    let first = Dictionary(
      subscriptions.map { ($0.key.originalTransactionID, $0.periods.first?.purchaseDate ?? Timestamp(.min)) }
    ) { one, _ in one }
    let told = knowledge.renewals.filter { first[$0.key.originalTransactionID] != nil }
    return told.sorted { a, b in
      let (one, other) = (a.key.originalTransactionID, b.key.originalTransactionID)
      guard let left = first[one], let right = first[other], left != right else { return one < other }
      return left < right
    }.map { renewal in
      CustomerFacts.Renewal(
        renewal.facts, statedAt: renewal.rank.asOf,
        wasAskedToConsent: wasAskedToConsent(renewal.key.originalTransactionID))
    }
  }

  /// Whether the customer was asked to agree to the subscription's price, and the question is still open.
  ///
  /// A later purchase of the subscription, after its end or as an upgrade, closes it.
  private func wasAskedToConsent(_ id: String) -> Bool {
    guard let asked = knowledge.askedToConsent[id] else { return false }
    return !purchases.contains {
      $0.key.originalTransactionID == id && $0.facts.text(.transactionReason) == "PURCHASE"
        && $0.purchaseDate.map { $0 > asked } == true
    }
  }

  // MARK: Freshness

  package func evidence(for receipt: Receipt, _ flow: NotificationHealth, at now: Timestamp) -> FreshnessInputs {
    var evidence = FreshnessInputs(
      ids: knowledge.asked, histories: knowledge.histories, unknown: knowledge.unknown.mapValues(\.settledAt),
      unknownLines: unknownLines(in: receipt), receiptMade: receipt.signedAt, unheld: knowledge.unheld,
      hasOpenLookUp: knowledge.hasOpenLookUp,
      silent: silent(at: now), flow: flow)
    evidence.isForgotten = isForgotten(receipt, at: now)
    return evidence
  }

  /// Returns the subscriptions whose outcome after their end Apple has not reported.
  func silent(at now: Timestamp) -> [String] {
    subscriptions.filter { subscription in
      let asked = knowledge.histories[subscription.key.originalTransactionID]
      if subscription.overdueRenewal(at: now, allowing: .milliseconds(0), asked: asked) != nil { return true }
      guard let end = subscription.endWithRenewalToCome(at: now) else { return false }
      // Apple reported nothing new well after it, so nothing is missing.
      guard let asked, asked >= end + .hours(1) else { return true }
      return asked + .minutes(1) < subscription.renewalLastHeard
    }.map(\.key.originalTransactionID)
  }

  /// Returns the receipt's lines without signed data, or with an end that no signed data confirms.
  private func unknownLines(in receipt: Receipt) -> [(line: String, id: String)] {
    let lines = Set(purchases.compactMap { $0.facts.text(.webOrderLineItemId) })
    let originals = Set(purchases.map(\.key.originalTransactionID))
    let running = Set(
      purchases.filter { $0.facts[.revocationDate] == nil && $0.facts.flag(.isUpgraded) != true }
        .map { $0.facts.text(.webOrderLineItemId) ?? $0.key.originalTransactionID })
    func unknown(_ line: String?, _ id: String?, cancelledAt: Timestamp?) -> (line: String, id: String)? {
      guard let id else { return nil }
      let (name, isThere) = (line ?? id, line.map(lines.contains) ?? originals.contains(id))
      return isThere && (cancelledAt == nil || !running.contains(name)) ? nil : (name, id)
    }
    switch receipt {
    case .app(let receipt):
      return receipt.purchases.compactMap { purchase in
        // V2 does not report free subscriptions, which are discontinued.
        purchase.productType == .freeSubscription
          ? nil
          : unknown(
            purchase.webOrderLineItemID.map(String.init), purchase.originalIdentity,
            cancelledAt: purchase.cancellationDate)
      }
    case .transaction(let receipt):
      return [
        unknown(receipt.webOrderLineItemID, receipt.originalIdentity, cancelledAt: receipt.cancellationDate)
      ].compactMap(\.self)
    }
  }

  /// Whether a response from the ledger and the receipt would report an end without any notification about it.
  ///
  /// Such a response must not be sent.
  package func endsUnheard(with receipt: Receipt, at now: Timestamp) -> Bool {
    // The intent to renew does not count: the customer may have changed it, and the notification may be lost.
    if !silent(at: now).isEmpty || subscriptions.contains(where: { isOverUnheard($0, at: now) }) { return true }
    let ends = Self.ends(in: receipt)
    return ends.contains { id, end in
      guard end <= now else { return false }
      guard let known = subscriptions.first(where: { $0.key.originalTransactionID == id }) else { return true }
      // A period that only the receipt has is later than all notifications.
      let last = known.periods.compactMap(\.expiresDate).max() ?? Timestamp(.min)
      return end.wholeSeconds > last.wholeSeconds && known.renewalLastHeard.wholeSeconds < end.wholeSeconds
    }
  }

  /// Whether its last period has ended without a notification since.
  private func isOverUnheard(_ subscription: Subscription, at now: Timestamp) -> Bool {
    guard let period = subscription.newest, let end = period.expiresDate, end <= now else { return false }
    if let revoked = period.revocationDate, revoked <= end { return false }
    let asked = knowledge.histories[subscription.key.originalTransactionID] ?? Timestamp(.min)
    return subscription.renewalLastHeard.wholeSeconds < end.wholeSeconds && asked < end
  }

  private static func ends(in receipt: Receipt) -> [String: Timestamp] {
    var ends: [String: Timestamp] = [:]
    func note(_ id: String?, _ end: Timestamp?) {
      guard let id, let end else { return }
      ends[id] = max(end, ends[id] ?? end)
    }
    switch receipt {
    case .app(let receipt): for purchase in receipt.purchases { note(purchase.originalIdentity, purchase.expiresDate) }
    case .transaction(let receipt): note(receipt.originalIdentity, receipt.expiresDate)
    }
    return ends
  }

  // MARK: Results

  /// Returns the time at which the response changes without new data: the next end of a period or grace period.
  package func nextChange(after now: Timestamp) -> Timestamp? {
    let ends = purchases.compactMap(\.expiresDate)
    let graces = knowledge.renewals.compactMap { $0.facts.date(.gracePeriodExpiresDate) }
    return (ends + graces).filter { $0 > now }.min()
  }

  /// The nodes by which messages about this customer are recognized.
  package var names: Set<CustomerNode> {
    var names = Set(knowledge.originalTransactionIDs.map(CustomerNode.originalTransactionID))
    for purchase in purchases {
      if let id = purchase.facts.text(.appTransactionId) { names.insert(.appTransactionID(id)) }
    }
    return names
  }

  /// Whether Apple reported every ID's account as deleted, without signed data since.
  package var isAccountGone: Bool {
    !knowledge.asked.isEmpty
      && knowledge.asked.allSatisfy { id in
        guard let unknown = knowledge.unknown[id], unknown.reason.contains("4040001") else { return false }
        let signed = subscriptions.filter { $0.key.originalTransactionID == id }.map(\.lastHeard)
        let bought = purchases.filter { $0.key.originalTransactionID == id }
          .flatMap(\.statements).map(\.rank.asOf)
        let last = ([knowledge.histories[id]].compactMap(\.self) + signed + bought).max()
        return unknown.settledAt >= last ?? Timestamp(.min)
      }
  }

  /// Returns the IDs for a lookup: subscriptions with missing notifications first, then IDs without a history.
  ///
  /// - Parameter made: the creation date of the receipt with the IDs: a lookup before it or soon after may have come
  ///   too early for Apple.
  package func idsToAsk(atMost most: Int, receiptMade made: Timestamp? = nil, at now: Timestamp) -> [String] {
    let missing = knowledge.asked.filter { id in
      guard knowledge.histories[id] == nil, let unknown = knowledge.unknown[id] else {
        return knowledge.histories[id] == nil
      }
      return unknown.settledAt < (made ?? Timestamp(0)) + .hours(1) || unknown.settledAt + Self.oblivion <= now
    }
    // At least one of the receipt's own: a linked ID may be unknown to Apple.
    let named = silent(at: now) + missing + knowledge.asked.suffix(1) + knowledge.unheld
    var seen: Set<String> = []
    return Array(named.filter { seen.insert($0).inserted }.prefix(most))
  }

  /// One of the account's IDs, stable until new data arrives, so that simultaneous requests share one lookup.
  package var name: String { knowledge.originalTransactionIDs.min() ?? "" }
}

extension Subscription {
  /// Returns the end of its last period if its latest data announces a renewal without obstacles; otherwise `nil`.
  ///
  /// A late charge renews past periods one after the other. Each notification arrives after the end of its period, and
  /// the next may be missing. For a real end, Apple reports the reason, or that it retries the charge.
  fileprivate func endWithRenewalToCome(at now: Timestamp) -> Timestamp? {
    guard let period = newest, let end = period.expiresDate, end <= now, period.revocationDate == nil,
      let facts = renewal?.facts, facts.integer(.autoRenewStatus) == 1, facts.flag(.isInBillingRetryPeriod) != true,
      facts.integer(.expirationIntent) == nil, facts.date(.gracePeriodExpiresDate) == nil
    else { return nil }
    return end
  }
}
