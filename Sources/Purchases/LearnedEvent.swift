import JSON
import Time

extension MergedEvent {
  public static func toldAndLearned(in events: [Event], purchases: [Purchase]) -> [MergedEvent] {
    var told = all(in: events, purchases: purchases)
    let unheard = unheard(of: purchases, beside: told)
    var learned = unheard.map { MergedEvent(learned: $0.event) }
    if told.contains(where: \.isClaimed) {
      // An event that a claim reports too is shown once, as Apple signed it.
      var index = InferredEvents()
      for (place, (purchase, event)) in unheard.enumerated() { index.insert(event, of: purchase, at: place) }
      var claims: [Int: [Event]] = [:]
      told.removeAll { occurrence in
        guard occurrence.isClaimed, let place = index.place(of: occurrence) else { return false }
        claims[place, default: []] += occurrence.tellings
        return true
      }
      for (place, tellings) in claims { learned[place].add(claims: tellings) }
    }
    return inOrder(told + learned) { a, b in !a.isClaimed && b.isClaimed }
  }

  /// Returns the events without a signed notification, inferred from Apple's signed purchases.
  ///
  /// They are not stored. A later signed notification of the same purchase and second replaces them. Only purchases,
  /// renewals and refunds are inferred. Each has `"learned": true` in its details, its source, and no rule.
  private static func unheard(
    of purchases: [Purchase], beside told: [MergedEvent]
  ) -> [(purchase: Purchase, event: Event)] {
    let signed = purchases.compactMap { whole in whole.signed.map { (whole: whole, signed: $0) } }
    let bySubscription = Dictionary(grouping: signed.map(\.signed), by: \.key.subscription).mapValues(Purchase.inOrder)
    let tellings = EventIndex(told.lazy.flatMap(\.tellings).filter(\.source.isSigned))
    return signed.flatMap { whole, purchase -> [(purchase: Purchase, event: Event)] in
      guard let word = purchase.statements.first else { return [] }
      var events: [Event] = []
      if let date = purchase.purchaseDate, !tellings.tells(of: whole, at: date),
        let (type, subtype) = purchase.beginning(among: bySubscription[purchase.key.subscription] ?? [])
      {
        events.append(purchase.event(type, subtype, at: date, said: word))
      }
      if let date = purchase.revocationDate, !tellings.tells(of: whole, at: date) {
        let isShared = purchase.facts.text(.inAppOwnershipType) == "FAMILY_SHARED"
        events.append(purchase.event(isShared ? "REVOKE" : "REFUND", nil, at: date, said: word))
      }
      return events.map { (whole, $0) }
    }
  }
}

extension Purchase {
  /// Returns the notification type of the purchase's beginning, or `nil` if Apple did not state the reason.
  ///
  /// - Parameter siblings: all purchases of its originalTransactionId, by purchase date.
  fileprivate func beginning(among siblings: [Purchase]) -> (type: String, subtype: String?)? {
    guard isSubscription else { return ("ONE_TIME_CHARGE", nil) }
    let before = siblings.lastBought(before: purchaseDate ?? .distantPast)
    switch facts.text(.transactionReason) {
    case "RENEWAL": return ("DID_RENEW", nil)
    case "PURCHASE":
      guard let before else {
        let isFirst = facts.text(.transactionId) == key.originalTransactionID
        return isFirst ? ("SUBSCRIBED", "INITIAL_BUY") : nil
      }
      return before.isUpgraded ? ("DID_CHANGE_RENEWAL_PREF", "UPGRADE") : ("SUBSCRIBED", "RESUBSCRIBE")
    default: return nil
    }
  }

  fileprivate func event(
    _ type: String, _ subtype: String?, at date: Timestamp, said word: PurchaseStatement
  ) -> Event {
    Event(
      app: key.app, environment: key.environment, notificationUUID: nil, notificationType: type, subtype: subtype,
      originalTransactionID: key.originalTransactionID, transactionID: facts.text(.transactionId), line: key.line,
      date: date, source: word.source, rank: word.rank, details: ["learned": true], message: word.message, rule: nil)
  }
}

extension [Purchase] {
  /// Returns the last purchase before `date`, of purchases sorted by date.
  ///
  /// One without a date counts, and is last.
  fileprivate func lastBought(before date: Timestamp) -> Purchase? {
    if let last, last.purchaseDate == nil { return date > .distantPast ? last : nil }
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if (self[middle].purchaseDate ?? .distantPast) < date { low = middle + 1 } else { high = middle }
    }
    return low > startIndex ? self[low - 1] : nil
  }
}
