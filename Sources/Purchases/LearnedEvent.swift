import JSON
import Time

extension Occurrence {
  /// What was told of, and what is learned beside it, by date.
  public static func toldAndLearned(in events: [Event], purchases: [Purchase]) -> [Occurrence] {
    let told = all(in: events, purchases: purchases)
    let learned = learned(from: purchases, beside: told)
    // Of one date what was told comes first, and what is learned in the order of the purchases.
    return learned.isEmpty ? told : inOrder(told + learned) { _, _ in false }
  }

  /// Whether no notification told of it.
  public var isLearned: Bool { event.notificationUUID == nil && event.details["learned"] == true }

  /// What happened without a notification that told of it: read off the purchases that Apple signed.
  ///
  /// Nothing of it is stored. A notification that comes late tells of the same purchase in the same second, and stands in
  /// its place from then on. Only what has a date of its own in the purchase is learned: that it was bought or renewed,
  /// that it was refunded. Each has `"learned": true` among its details, the source that showed it, and no rule.
  public static func learned(from purchases: [Purchase], beside told: [Occurrence]) -> [Occurrence] {
    let bySubscription = Dictionary(grouping: purchases, by: \.key.subscription)
    let tellings = EventIndex(told.lazy.flatMap(\.tellings))
    return purchases.flatMap { purchase -> [Occurrence] in
      guard purchase.folded.signed != nil, let word = purchase.statements.first else { return [] }
      var events: [Event] = []
      if let date = purchase.purchaseDate, !tellings.tells(of: purchase, at: date),
        let (type, subtype) = purchase.beginning(among: bySubscription[purchase.key.subscription] ?? [])
      {
        events.append(purchase.event(type, subtype, at: date, said: word))
      }
      if let date = purchase.revocationDate, !tellings.tells(of: purchase, at: date) {
        let isShared = purchase.facts.text(.inAppOwnershipType) == "FAMILY_SHARED"
        events.append(purchase.event(isShared ? "REVOKE" : "REFUND", nil, at: date, said: word))
      }
      return events.map { Occurrence(event: $0, tellings: [$0]) }
    }
  }
}

extension Purchase {
  /// What its beginning is called among Apple's notifications; nil when Apple did not state why it was bought.
  ///
  /// - Parameter siblings: all purchases below its originalTransactionId, by purchase date.
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
    _ type: String, _ subtype: String?, at date: Milliseconds, said word: PurchaseStatement
  ) -> Event {
    Event(
      app: key.app, environment: key.environment, notificationUUID: nil, notificationType: type, subtype: subtype,
      originalTransactionID: key.originalTransactionID, transactionID: facts.text(.transactionId), line: key.line,
      date: date, source: word.source, rank: word.rank, details: ["learned": true], message: word.message, rule: nil)
  }
}

extension [Purchase] {
  /// The last of purchases in the order of their dates that was bought before `date`; one without a date is, and is last.
  fileprivate func lastBought(before date: Milliseconds) -> Purchase? {
    if let last, last.purchaseDate == nil { return date > .distantPast ? last : nil }
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if (self[middle].purchaseDate ?? .distantPast) < date { low = middle + 1 } else { high = middle }
    }
    return low > startIndex ? self[low - 1] : nil
  }
}
