public import Time

/// Whether an app's V1 data may by itself change what its customers are entitled to, while the app is in `record`.
///
/// A V1 body is signed by nobody and its shared secret ships inside old apps.
public enum LegacyEntitlements: String, Hashable, Sendable, CaseIterable {
  /// All sources together decide.
  case allow
  /// What Apple signed decides; the rest is shown, and marked as unconfirmed.
  case deny
}

/// How a subscription stands at one time: Apple's status, and what it is worth.
public struct Standing: Hashable, Sendable {
  /// By all sources together; nil when nobody with a vote said when the period ends.
  public let status: SubscriptionStatus?
  /// The period that decides; nil when there is no status.
  public let period: Purchase?
  /// Whether the signed sources alone come to the same status by the same period.
  public let isConfirmed: Bool
  /// Whether the customer is entitled to the product, by the app's policy for what is not confirmed.
  public let grantsAccess: Bool
}

extension Subscription {
  /// How it stands at `now`: a pure function of what is known, the time and the policy handed in.
  ///
  /// V1 tells of no expiry: that a period has ended is always read from the time.
  public func standing(at now: Milliseconds, legacy: LegacyEntitlements) -> Standing {
    let (status, period) = (status(at: now), current(at: now))
    let signed = signed
    let signedStatus = signed?.status(at: now)
    let deciding =
      switch legacy {
      case .allow: status
      case .deny: signedStatus
      }
    return Standing(
      status: status, period: status == nil ? nil : period,
      isConfirmed: status != nil && signedStatus == status && signed?.current(at: now)?.key == period?.key,
      grantsAccess: deciding?.grantsAccess ?? false)
  }
}
