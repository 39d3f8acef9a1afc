public import Time

/// When Apple is to be asked whether a subscription renewed, unless something signed tells of it before.
///
/// A renewal of which no notification told would otherwise be found by the daily comparison alone, and until then its
/// customer would read as without access.
public struct RenewalCheck: Hashable, Sendable {
  public let originalTransactionID: String
  /// Nil when no renewal is expected.
  public let dueAt: Timestamp?
  /// As of when Apple said what the check is planned by.
  public let asOf: Timestamp

  public init(originalTransactionID: String, dueAt: Timestamp?, asOf: Timestamp) {
    self.originalTransactionID = originalTransactionID
    self.dueAt = dueAt
    self.asOf = asOf
  }

  /// How long after a period's end a renewal that Apple has not made yet is waited for.
  static let patience = Interval.hours(24)
  private static let firstPause = Interval.minutes(10)

  /// The checks that follow from Apple's statuses of a customer's subscriptions, one for each.
  ///
  /// The first is due when the period ends. While Apple says that it renews and has neither renewed it nor failed to
  /// charge, it is asked again after 10 minutes, then at doubled intervals for a day.
  public static func all(in statuses: Findings, at now: Timestamp) -> [Self] {
    let periods = Dictionary(grouping: statuses.purchases.filter { $0.source == .signedV2 }, by: \.key.subscription)
    return statuses.renewals.filter { $0.source == .signedV2 }.map { renewal in
      let last = (periods[renewal.key] ?? []).max {
        ($0.facts.date(.expiresDate) ?? .distantPast) < ($1.facts.date(.expiresDate) ?? .distantPast)
      }
      return Self(
        originalTransactionID: renewal.key.originalTransactionID,
        dueAt: last.flatMap { dueAt(renewal.facts, after: $0.facts, at: now) }, asOf: renewal.rank.asOf)
    }
  }

  private static func dueAt(
    _ renewal: Facts<RenewalField>, after period: Facts<PurchaseField>, at now: Timestamp
  ) -> Timestamp? {
    guard renewal.integer(.autoRenewStatus) == 1, period[.revocationDate] == nil, period.flag(.isUpgraded) != true,
      let end = period.date(.expiresDate)
    else { return nil }
    if now < end { return end }
    let hasFailed =
      renewal.flag(.isInBillingRetryPeriod) == true || renewal[.gracePeriodExpiresDate] != nil
      || renewal[.expirationIntent] != nil
    guard !hasFailed, now - end < patience else { return nil }
    return now + max(firstPause, now - end)
  }
}
