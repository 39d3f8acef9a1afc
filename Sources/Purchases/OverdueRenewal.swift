public import Time

/// Why Apple has to be asked about a subscription: its period or its grace period is over, and nobody has said a word since.
public enum OverdueRenewal: String, Hashable, Sendable, CaseIterable {
  /// The last word was that it renews by itself.
  case shouldHaveRenewed
  /// Nobody said whether it renews, whether it was paid before its grace period was over, or the last word of a billing
  /// retry is older than any retry.
  case unheard
}

/// A period's end at which something had to happen: a renewal, or news of why there was none.
public struct ExpectedRenewal: Hashable, Sendable {
  public enum Outcome: Hashable, Sendable, CaseIterable {
    /// A notification told of what happened.
    case told
    /// It is known from a history, a status, a receipt; no notification told of it.
    case learned
    /// Nothing is known of it.
    case unheard
  }

  /// When the period ended.
  public let date: Timestamp
  public let outcome: Outcome
}

extension Subscription {
  /// As of when anybody with a vote last spoke of it.
  public var lastHeard: Timestamp {
    let said = periods.flatMap(\.statements).filter(\.source.hasVote).map(\.rank.asOf)
    return max(said.max() ?? .distantPast, renewal?.asOf ?? .distantPast)
  }

  /// As of when anybody with a vote last spoke of its newest period, or of its renewal.
  ///
  /// A refund of an earlier period says nothing of what became of the last one.
  public var renewalLastHeard: Timestamp {
    let said = newest?.statements.filter(\.source.hasVote).map(\.rank.asOf).max()
    return max(said ?? .distantPast, renewal?.asOf ?? .distantPast)
  }

  /// As of when an unsigned source with a vote last spoke of it; nil when none did.
  public var lastClaimed: Timestamp? {
    let said = periods.flatMap(\.statements).filter(\.source.isClaimed).map(\.rank.asOf)
    let renewed = renewal?.origins.claimedAsOf.map { [$0] } ?? []
    return (said + renewed).max()
  }

  /// Why it is to be asked about at `now`; nil when what is known can be all there is.
  ///
  /// - Parameters:
  ///   - allowance: how long after a period's end its news may still be on the way.
  ///   - asked: when Apple was asked about it last, by the same clock as `now`: Apple's own may be behind.
  public func overdueRenewal(
    at now: Timestamp, allowing allowance: Interval, asked: Timestamp? = nil
  ) -> OverdueRenewal? {
    guard let period = newest, let end = period.expiresDate, end + allowance <= now else { return nil }
    if let other = current(at: now), !other.isRevoked(at: now), let end = other.expiresDate, now < end { return nil }
    if let revoked = period.revocationDate, revoked <= end { return nil }
    func hasNews(since date: Timestamp) -> Bool { self.hasNews(since: date) || asked.map { $0 >= date } ?? false }
    if hasNews(since: end) {
      // Until then access went on: a payment at the last moment is news that may be missing, as at a period's end.
      if let grace = gracePeriodEnd(after: period), grace + allowance <= now, !hasNews(since: grace) { return .unheard }
      let heard = max(lastHeard, asked ?? .distantPast)
      let isStale = status(at: now) == .billingRetry && heard + Self.billingRetry <= now
      return isStale ? .unheard : nil
    }
    switch renewal?.facts.integer(.autoRenewStatus) {
    case 0: return nil
    case 1: return .shouldHaveRenewed
    default: return .unheard
    }
  }

  /// What had to happen when periods ended from `start` up to `now` less `allowance`.
  ///
  /// - Parameter events: those of this subscription that notifications told of.
  public func expectedRenewals(
    from start: Timestamp, to now: Timestamp, allowing allowance: Interval, told events: [Event]
  ) -> [ExpectedRenewal] {
    let tellings = EventIndex(events)
    return periods.indices.compactMap { index in
      let period = periods[index]
      guard let end = period.expiresDate, start <= end, end + allowance <= now, !period.isUpgraded else { return nil }
      if let revoked = period.revocationDate, revoked <= end { return nil }
      if index + 1 < periods.endIndex {
        let next = periods[index + 1]
        return ExpectedRenewal(date: end, outcome: tellings.tells(of: next) ? .told : .learned)
      }
      let isOff = renewal?.facts.integer(.autoRenewStatus) == 0
      if isOff, overdueRenewal(at: now, allowing: allowance) == nil { return nil }
      guard hasNews(since: end) else { return ExpectedRenewal(date: end, outcome: .unheard) }
      let isTold = events.contains { $0.rank.asOf.wholeSeconds >= end.wholeSeconds }
      return ExpectedRenewal(date: end, outcome: isTold ? .told : .learned)
    }
  }

  /// Apple retries a failed charge for 60 days.
  private static let billingRetry = Interval.days(61)

  /// Seconds, because V1 bodies tell no more.
  private func hasNews(since end: Timestamp) -> Bool { renewalLastHeard.wholeSeconds >= end.wholeSeconds }
}
