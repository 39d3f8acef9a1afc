package import Ledger
package import Time

/// What freshness is judged by: values alone.
package struct FreshnessInputs: Sendable {
  /// OriginalTransactionIds of the receipt.
  package var ids: [String]
  /// When Apple's history was asked that last held each id of the account.
  package var histories: [String: Timestamp]
  /// Ids of which Apple said that it knows none, and when.
  package var unknown: [String: Timestamp]
  /// Whether Apple knows no id of the receipt any more.
  package var isForgotten = false
  /// Lines that the receipt proves and no signed data has; of each the originalTransactionId.
  package var unknownLines: [(line: String, id: String)]
  /// When the receipt was made.
  package var receiptMade: Timestamp?
  /// Ids that are linked with these, and that no history has held.
  package var unheld: [String]
  package var hasOpenLookUp: Bool
  /// Subscriptions that are silent past their renewal.
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

/// Whether what is known of a customer is all that Apple would say now: one rule, for answers and for whoever explains them.
package enum Freshness {
  /// A history that is no older needs no news.
  package static let recent = Interval.minutes(15)
  /// Within which what came has to be compared with what Apple sent: that is done once a day.
  package static let compared = Interval.hours(49)
  /// Apple's history has a purchase some time after the receipt has it.
  private static let propagation = Interval.minutes(1)

  /// Why it may not be; empty when it is fresh.
  package static func reasons(_ evidence: FreshnessInputs, at now: Timestamp) -> [StalenessReason] {
    guard !evidence.ids.isEmpty else { return [.noPurchases] }
    var reasons: [StalenessReason] = []
    // What Apple does not know has no history; while nothing else is known either, that tells nothing, unless Apple has
    // told of other customers of the app.
    let isKnown = !evidence.histories.isEmpty || evidence.isForgotten
    for id in evidence.ids where evidence.histories[id] == nil && !(isKnown && evidence.unknown[id] != nil) {
      reasons.append(.noHistory(id))
    }
    for (line, id) in evidence.unknownLines {
      guard let asked = evidence.histories[id] ?? evidence.unknown[id] else { continue }
      // Asked after the receipt was made, V2 has no word for the line: the receipt's own stands.
      if asked < (evidence.receiptMade ?? now) + propagation { reasons.append(.unknownLine(line)) }
    }
    reasons += evidence.unheld.map(StalenessReason.notHeld)
    if evidence.hasOpenLookUp { reasons.append(.lookUpOpen) }
    reasons += evidence.silent.map(StalenessReason.silent)
    // The oldest of them: news of each has to have come since.
    if let asked = evidence.histories.values.min(), asked + recent < now { reasons += gaps(evidence.flow, asked, now) }
    return reasons
  }

  /// What may have been missed since a history was asked for.
  private static func gaps(_ flow: NotificationHealth, _ asked: Timestamp, _ now: Timestamp) -> [StalenessReason] {
    var reasons: [StalenessReason] = []
    if flow.lastHeard.map({ $0 + NotificationHealth.heard < now }) ?? true { reasons.append(.noNews) }
    if flow.lostSince != nil { reasons.append(.newsLost) }
    if let ended = flow.gapsEndedAt, asked < ended { reasons.append(.gapSinceHistory) }
    if max(asked, flow.comparedUntil ?? asked) + compared < now { reasons.append(.notCompared) }
    return reasons
  }
}
