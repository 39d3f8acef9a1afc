public import Time

/// A subscription: the periods below one originalTransactionId and what Apple intends to do next.
public struct Subscription: Hashable, Sendable {
  public let key: SubscriptionKey
  /// By purchase date; at least one.
  public let periods: [Purchase]
  public let renewal: Folded<RenewalField>?

  /// Nil when none of `purchases` is a period of a subscription.
  public init?(key: SubscriptionKey, purchases: [Purchase], renewal: Folded<RenewalField>?) {
    let periods = purchases.filter(\.isSubscription)
    guard !periods.isEmpty else { return nil }
    self.key = key
    self.periods = periods
    self.renewal = renewal
  }

  /// The period that decides: the last to end of those that no upgrade replaced, or of all when every one was replaced.
  public var current: Purchase? {
    let standing = periods.filter { !$0.isUpgraded }
    return (standing.isEmpty ? periods : standing).max {
      ($0.expiresDate ?? .distantPast, $0.purchaseDate ?? .distantPast, $0.key)
        < ($1.expiresDate ?? .distantPast, $1.purchaseDate ?? .distantPast, $1.key)
    }
  }

  /// The status at `now`: a pure function of what is known and the time handed in.
  public func status(at now: Milliseconds) -> SubscriptionStatus? {
    guard let current else { return nil }
    if let revoked = current.revocationDate, revoked <= now { return .revoked }
    guard let expires = current.expiresDate else { return nil }
    if now < expires { return .active }
    let intention = intention(after: current)
    if let grace = intention?.date(.gracePeriodExpiresDate), now < grace { return .billingGracePeriod }
    return intention?.flag(.isInBillingRetryPeriod) == true ? .billingRetry : .expired
  }

  /// What Apple intends after `period`; nothing when it was said before that period began: then it is history.
  private func intention(after period: Purchase) -> Facts<RenewalField>? {
    guard let renewal, renewal.asOf >= period.purchaseDate ?? .distantPast else { return nil }
    return renewal.facts
  }
}

/// Apple's status of a subscription, with the numbers of the App Store Server API.
public enum SubscriptionStatus: Int, Hashable, Sendable, CaseIterable {
  case active = 1
  case expired = 2
  case billingRetry = 3
  case billingGracePeriod = 4
  case revoked = 5

  /// Whether the customer is entitled to the product.
  public var grantsAccess: Bool {
    switch self {
    case .active, .billingGracePeriod: true
    case .expired, .billingRetry, .revoked: false
    }
  }

  public var name: String { "\(self)" }
}

extension Milliseconds {
  static let distantPast = Milliseconds(.min)
}
