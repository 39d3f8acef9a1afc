public import Time

/// The reason for a lookup: the period or grace period is over, and no source has reported since.
public enum OverdueRenewal: String, Hashable, Sendable, CaseIterable {
  /// The last statement was that it renews automatically.
  case shouldHaveRenewed
  /// No source stated whether it renews or was paid in its grace period, or a billing retry is older than any retry.
  case unheard
}

/// The end of a period at which a renewal or a notification of its failure was due.
public struct ExpectedRenewal: Hashable, Sendable {
  public enum Outcome: Hashable, Sendable, CaseIterable {
    /// A notification reported the outcome.
    case told
    /// Only a history, status or receipt shows the outcome.
    case learned
    /// The outcome is unknown.
    case unheard
  }

  public let date: Timestamp
  public let outcome: Outcome
}

extension Subscription {
  /// The time of the latest statement of a voting source.
  public var lastHeard: Timestamp {
    let said = periods.flatMap(\.statements).filter(\.source.hasVote).map(\.rank.asOf)
    return max(said.max() ?? .distantPast, renewal?.asOf ?? .distantPast)
  }

  /// The time of the latest statement of a voting source about the newest period or the renewal.
  ///
  /// A refund of an earlier period does not show the outcome of the last one.
  public var renewalLastHeard: Timestamp {
    let said = newest?.statements.filter(\.source.hasVote).map(\.rank.asOf).max()
    return max(said ?? .distantPast, renewal?.asOf ?? .distantPast)
  }

  /// The time of the latest statement of an unsigned voting source, or `nil`.
  public var lastClaimed: Timestamp? {
    let said = periods.flatMap(\.statements).filter(\.source.isClaimed).map(\.rank.asOf)
    let renewed = renewal?.origins.claimedAsOf.map { [$0] } ?? []
    return (said + renewed).max()
  }

  /// Returns the reason for a lookup at `now`, or `nil` if the data may be complete.
  ///
  /// - Parameters:
  ///   - allowance: how long after a period's end its notification may arrive.
  ///   - asked: the last lookup, by the clock of `now`: Apple's own clock may be behind.
  public func overdueRenewal(
    at now: Timestamp, allowing allowance: Interval, asked: Timestamp? = nil
  ) -> OverdueRenewal? {
    guard let period = newest, let end = period.expiresDate, end + allowance <= now else { return nil }
    if let other = current(at: now), !other.isRevoked(at: now), let end = other.expiresDate, now < end { return nil }
    if let revoked = period.revocationDate, revoked <= end { return nil }
    func hasNews(since date: Timestamp) -> Bool { self.hasNews(since: date) || asked.map { $0 >= date } ?? false }
    if hasNews(since: end) {
      // Access lasted until then: a payment at the last moment may be missing, as at a period's end.
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

  /// Returns the renewals that were due from `start` up to `now` minus `allowance`.
  ///
  /// - Parameter events: the subscription's events from notifications.
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

  /// Compares seconds, since V1 bodies have no milliseconds.
  private func hasNews(since end: Timestamp) -> Bool { renewalLastHeard.wholeSeconds >= end.wholeSeconds }
}
