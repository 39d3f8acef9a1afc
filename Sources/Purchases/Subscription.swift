import JSON
public import Time

/// The periods of one originalTransactionId with Apple's renewal.
public struct Subscription: Hashable, Sendable {
  public let key: SubscriptionKey
  /// The periods by purchase date, at least one.
  public let periods: [Purchase]
  public let renewal: Resolved<RenewalField>?

  /// Returns `nil` if no purchase is a period of this subscription.
  public init?(key: SubscriptionKey, purchases: [Purchase], renewal: Resolved<RenewalField>?) {
    let periods = purchases.filter { $0.isSubscription && $0.key.subscription == key }
    guard !periods.isEmpty else { return nil }
    self.key = key
    self.periods = periods
    self.renewal = renewal
  }

  /// The last period to end, without upgraded ones unless all are upgraded.
  public var current: Purchase? {
    Self.last(of: periods) { !$0.isUpgraded } ?? Self.last(of: periods) { _ in true }
  }

  /// The last bought period, without upgraded ones unless all are upgraded.
  public var newest: Purchase? {
    Self.last(of: periods, by: Self.begins) { !$0.isUpgraded } ?? Self.last(of: periods, by: Self.begins) { _ in true }
  }

  /// Returns the period that decides at `now`: the last to end of the paid and running ones, otherwise the newest while
  /// Apple still tries to charge, otherwise `current`.
  ///
  /// The refund of one period does not affect another that still runs. A period that begins later decides if none has
  /// begun: Apple charges up to a day early and dates the purchase to the end of the earlier period.
  public func current(at now: Timestamp) -> Purchase? {
    func runs(_ period: Purchase) -> Bool {
      !period.isUpgraded && !period.isRevoked(at: now) && period.expires(after: now)
    }
    if let running = Self.last(of: periods, where: { runs($0) && $0.hasBegun(at: now) })
      ?? Self.last(of: periods, where: runs)
    {
      return running
    }
    let newest = Self.last(of: periods, by: Self.begins) { !$0.isUpgraded && $0.hasBegun(at: now) }
    if let newest, !newest.isRevoked(at: now), isCharged(after: newest, at: now) { return newest }
    return current
  }

  /// Whether Apple still tries to charge after `period`, in its grace period or in billing retry.
  private func isCharged(after period: Purchase, at now: Timestamp) -> Bool {
    gracePeriodEnd(after: period).map { now < $0 } ?? false
      || intention(.isInBillingRetryPeriod, after: period)?.bool == true
  }

  /// Returns the status at `now`, a pure function of the data and the time.
  ///
  /// `nil` if no voting source states the end of the period.
  public func status(at now: Timestamp) -> SubscriptionStatus? {
    guard let period = current(at: now) else { return nil }
    if period.isRevoked(at: now) { return .revoked }
    if period.expiresDate == nil { return nil }
    if period.expires(after: now) { return .active }
    if let grace = gracePeriodEnd(after: period), now < grace { return .billingGracePeriod }
    return intention(.isInBillingRetryPeriod, after: period)?.bool == true ? .billingRetry : .expired
  }

  /// Returns the end of the grace period after `period`, or `nil` without one.
  func gracePeriodEnd(after period: Purchase) -> Timestamp? {
    intention(.gracePeriodExpiresDate, after: period)?.milliseconds
  }

  /// The subscription by only the signed sources, or `nil` if they have no period.
  public var signed: Subscription? {
    // Most subscriptions have only signed sources.
    if periods.allSatisfy(\.resolved.isSigned), renewal?.isSigned ?? true { return self }
    return Subscription(key: key, purchases: periods.compactMap(\.signed), renewal: renewal?.signed)
  }

  /// Whether another period was bought after the event's one.
  ///
  /// A superseded event is kept. `PeriodIndex` does the same for many events without a search in all periods.
  public func isSuperseded(_ event: Event) -> Bool {
    let told = periods.lastIndex { $0.isTold(by: event) }
    return told.map { $0 < periods.count - 1 } ?? false
  }

  /// Returns Apple's renewal field after `period`, or `nil` if the statement is earlier than that period.
  ///
  /// The time is that of the field's own source: another source may have stated other fields since.
  private func intention(_ field: RenewalField, after period: Purchase) -> JSONValue? {
    guard let renewal, let said = renewal.origins[field] else { return nil }
    let start = period.purchaseDate ?? .distantPast
    let isAfter =
      said.source.tellsMilliseconds ? said.asOf >= start : said.asOf.wholeSeconds >= start.wholeSeconds
    return isAfter ? renewal.facts[field] : nil
  }

  /// Returns the last period that `counts`, by default the last to end.
  private static func last(
    of periods: [Purchase], by order: (Purchase) -> (Timestamp, Timestamp) = ends,
    where counts: (Purchase) -> Bool
  ) -> Purchase? {
    var last: (place: Int, dates: (Timestamp, Timestamp))?
    for (place, period) in periods.enumerated() where counts(period) {
      let dates = order(period)
      if let last {
        if dates < last.dates { continue }
        if dates == last.dates, period.key < periods[last.place].key { continue }
      }
      last = (place, dates)
    }
    return last.map { periods[$0.place] }
  }

  private static func ends(_ period: Purchase) -> (Timestamp, Timestamp) {
    (period.expiresDate ?? .distantPast, period.purchaseDate ?? .distantPast)
  }

  private static func begins(_ period: Purchase) -> (Timestamp, Timestamp) {
    (period.purchaseDate ?? .distantPast, period.expiresDate ?? .distantPast)
  }
}

extension Purchase {
  func isRevoked(at now: Timestamp) -> Bool { revocationDate.map { $0 <= now } ?? false }
  fileprivate func hasBegun(at now: Timestamp) -> Bool { purchaseDate.map { $0 <= now } ?? true }
  fileprivate func expires(after now: Timestamp) -> Bool { expiresDate.map { now < $0 } ?? false }
}

extension Timestamp {
  static let distantPast = Timestamp(.min)
}
