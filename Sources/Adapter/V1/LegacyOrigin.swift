package import Purchases
package import Time

/// What was found out about the sender of something unsigned, before it was read.
package struct LegacyOrigin: Sendable {
  /// The bundle id, by `bid`, by the secret, by the URL or by the token; nil when none of them told.
  package var app: String?
  /// By the URL or the request; nil when the body has to tell.
  package var environment: Environment?
  package var trust: Adapter.Trust
  /// What is said to be later than this is believed to be of this time.
  package var receivedAt: Milliseconds

  package init(app: String?, environment: Environment?, trust: Adapter.Trust, receivedAt: Milliseconds) {
    self.app = app
    self.environment = environment
    self.trust = trust
    self.receivedAt = receivedAt
  }

  /// The app of a body whose parts claim `claimed`; refused when any two differ, or when nobody names one.
  func app(claimed: [String?]) throws(Refusal) -> String {
    let claimed = claimed.compactMap(\.self)
    let known = app ?? claimed.first
    if let known, let other = claimed.first(where: { $0 != known }) {
      throw Refusal(.authentic, .wrongBundle, "it is of \(other.prefix(255)), not of \(known)", claimedApp: other)
    }
    guard let app = known, app != "" else {
      throw Refusal(
        .legacy, .unknownApp,
        "the body names no app (bid came in 2020) and its secret is not known; give Apple the URL with the bundle id")
    }
    return app
  }

  /// The environment of a body that says `names`, in Apple's several words; refused when nobody knows or they differ.
  func environment(named names: String?..., app: String) throws(Refusal) -> Environment {
    var known: Environment?
    for name in names {
      guard let name else { continue }
      guard let environment = Environment(legacyName: name) else {
        throw Refusal(
          .legacy, .environmentUnknown, "the body names an environment Apple does not document", claimedApp: app)
      }
      if let known, known != environment { throw Self.contradiction(known, environment, app) }
      known = environment
    }
    if let known, let environment, known != environment { throw Self.contradiction(known, environment, app) }
    guard let found = known ?? environment else {
      throw Refusal(
        .legacy, .environmentUnknown,
        "neither the body nor the request names an environment; add ?environment=Production or Sandbox",
        claimedApp: app)
    }
    return found
  }

  private static func contradiction(_ a: Environment, _ b: Environment, _ app: String) -> Refusal {
    Refusal(
      .legacy, .environmentUnknown, "it is said to be of \(a.rawValue) and of \(b.rawValue); hand it in as one of them",
      claimedApp: app)
  }
}

extension Environment {
  /// V1's names: `PROD` at the top of notifications, a receipt's type in answers.
  init?(legacyName name: String) {
    switch name {
    case "PROD", "Production", "ProductionVPP": self = .production
    case "Sandbox", "ProductionSandbox", "ProductionVPPSandbox": self = .sandbox
    case "Xcode": self = .xcode
    default: return nil
    }
  }
}
