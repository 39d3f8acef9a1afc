/// Apple's status of a subscription, with the numbers of the App Store Server API.
public enum SubscriptionStatus: Int, Hashable, Sendable, CaseIterable {
  case active = 1
  case expired = 2
  case billingRetry = 3
  case billingGracePeriod = 4
  case revoked = 5

  public var grantsAccess: Bool {
    switch self {
    case .active, .billingGracePeriod: true
    case .expired, .billingRetry, .revoked: false
    }
  }

  public var name: String { "\(self)" }
}
