public import Time

/// The scheduled lookup of a subscription's renewal, unless signed data reports it before.
///
/// Otherwise a customer would lack access until the daily comparison finds a renewal without a notification.
public struct RenewalCheck: Hashable, Sendable {
  public let originalTransactionID: String
  /// `nil` if no renewal is expected.
  public let dueAt: Timestamp?
  /// The time of Apple's status for which the check is scheduled.
  public let asOf: Timestamp

  public init(originalTransactionID: String, dueAt: Timestamp?, asOf: Timestamp) {
    self.originalTransactionID = originalTransactionID
    self.dueAt = dueAt
    self.asOf = asOf
  }

  /// The time that the check waits for a late renewal after a period's end.
  static let patience = Interval.hours(24)
  private static let firstPause = Interval.minutes(10)

  /// Returns the checks for Apple's statuses of a customer's subscriptions, one for each.
  ///
  /// The first is due at the end of the period. While Apple reports neither the renewal nor a failed charge, lookups
  /// follow after 10 minutes and then at doubled intervals for a day.
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
