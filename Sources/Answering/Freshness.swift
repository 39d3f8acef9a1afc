package import Ledger
package import Time

package struct FreshnessInputs: Sendable {
  /// The originalTransactionIds of the receipt.
  package var ids: [String]
  /// The request dates of Apple's latest history that contained each ID of the account.
  package var histories: [String: Timestamp]
  /// The IDs that Apple reported as unknown, with the dates.
  package var unknown: [String: Timestamp]
  /// Whether Apple no longer knows any ID of the receipt.
  package var isForgotten = false
  /// Line items that only the receipt proves, each with its originalTransactionId.
  package var unknownLines: [(line: String, id: String)]
  package var receiptMade: Timestamp?
  /// Linked IDs that no history contained.
  package var unheld: [String]
  package var hasOpenLookUp: Bool
  /// Subscriptions without a notification after their renewal date.
  package var silent: [String]
  package var flow: NotificationHealth

  package init(
    ids: [String], histories: [String: Timestamp] = [:], unknown: [String: Timestamp] = [:],
    unknownLines: [(line: String, id: String)] = [], receiptMade: Timestamp? = nil, unheld: [String] = [],
    hasOpenLookUp: Bool = false, silent: [String] = [], flow: NotificationHealth = NotificationHealth()
  ) {
    self.ids = ids
    self.histories = histories
    self.unknown = unknown
    self.unknownLines = unknownLines
    self.receiptMade = receiptMade
    self.unheld = unheld
    self.hasOpenLookUp = hasOpenLookUp
    self.silent = silent
    self.flow = flow
  }
}

/// Decides whether a customer's stored data is all that Apple would return now, for responses and their explanations.
package enum Freshness {
  /// The age up to which a history needs no notifications.
  package static let recent = Interval.minutes(15)
  /// The time within which notifications must be compared with Apple's history; the comparison is daily.
  package static let compared = Interval.hours(49)
  /// The delay after which Apple's history contains a receipt's purchase.
  private static let propagation = Interval.minutes(1)

  /// Returns the reasons why the data may be incomplete; empty if it is fresh.
  package static func reasons(_ evidence: FreshnessInputs, at now: Timestamp) -> [StalenessReason] {
    guard !evidence.ids.isEmpty else { return [.noPurchases] }
    var reasons: [StalenessReason] = []
    // Apple has no history for an unknown ID. Without any other data this proves nothing, unless Apple has sent data
    // about other customers of the app.
    let isKnown = !evidence.histories.isEmpty || evidence.isForgotten
    for id in evidence.ids where evidence.histories[id] == nil && !(isKnown && evidence.unknown[id] != nil) {
      reasons.append(.noHistory(id))
    }
    for (line, id) in evidence.unknownLines {
      guard let asked = evidence.histories[id] ?? evidence.unknown[id] else { continue }
      // A history after the receipt's creation lacks the line: V2 has no data for it, so the receipt's applies.
      if asked < (evidence.receiptMade ?? now) + propagation { reasons.append(.unknownLine(line)) }
    }
    reasons += evidence.unheld.map(StalenessReason.notHeld)
    if evidence.hasOpenLookUp { reasons.append(.lookUpOpen) }
    reasons += evidence.silent.map(StalenessReason.silent)
    // The oldest of them, because notifications of each must have arrived since.
    if let asked = evidence.histories.values.min(), asked + recent < now { reasons += gaps(evidence.flow, asked, now) }
    return reasons
  }

  /// Returns the possible gaps in notifications since a history was requested.
  private static func gaps(_ flow: NotificationHealth, _ asked: Timestamp, _ now: Timestamp) -> [StalenessReason] {
    var reasons: [StalenessReason] = []
    if flow.lastHeard.map({ $0 + NotificationHealth.heard < now }) ?? true { reasons.append(.noNews) }
    if flow.lostSince != nil { reasons.append(.newsLost) }
    if let ended = flow.gapsEndedAt, asked < ended { reasons.append(.gapSinceHistory) }
    if max(asked, flow.comparedUntil ?? asked) + compared < now { reasons.append(.notCompared) }
    return reasons
  }
}
