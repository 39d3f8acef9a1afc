import Mappings

/// What Apple counts calls by.
package struct RateLimitKey: Hashable, Sendable {
  package let app: String
  package let endpoint: Endpoint
  package let environment: APIEnvironment

  package init(app: String, endpoint: Endpoint, environment: APIEnvironment) {
    self.app = app
    self.endpoint = endpoint
    self.environment = environment
  }
}

/// Within which bounds the rate of a key is learned.
package struct RateBounds: Hashable, Sendable {
  /// Calls a second to begin with.
  package var start: Double
  /// Never more.
  package var most: Double
  /// Calls that may go out at once after a pause.
  package var burst: Int

  package init(start: Double, most: Double, burst: Int = 1) {
    self.start = start
    self.most = most
    self.burst = burst
  }

  /// Never less: Apple's tightest documented limit is a call in ten seconds.
  var least: Double { min(start, 0.05) }

  /// What Apple documents: begun with and not exceeded, as the limit is counted over an hour and whoever uses it up in
  /// minutes is locked out for the rest of the hour, interactive calls too.
  package static func documented(_ key: RateLimitKey) -> Self {
    let production = key.endpoint.row.perSecond.map(Double.init) ?? undocumented
    let rate =
      switch key.environment {
      case .production: production
      case .sandbox: production / 10
      }
    return Self(start: rate, most: rate, burst: 5)
  }

  /// Where the limits are not Apple's: begun with a little, doubled each second until the first refusal.
  package static func unknown(_ key: RateLimitKey) -> Self { Self(start: 20, most: 20_000) }

  private static let undocumented = 10.0
}
