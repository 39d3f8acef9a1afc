public import Purchases
public import Time

/// The result of checking an unsigned body's sender, before the body is read.
public struct V1Context: Sendable {
  /// The bundle ID, by `bid`, the secret, the URL or the token; `nil` if none of them identifies it.
  public var app: String?
  /// The environment by the URL or the request; `nil` if the body must name it.
  public var environment: Environment?
  public var trust: MessageDecoder.Proof
  /// The latest acceptable date; later dates are replaced by it.
  public var receivedAt: Timestamp

  public init(app: String?, environment: Environment?, trust: MessageDecoder.Proof, receivedAt: Timestamp) {
    self.app = app
    self.environment = environment
    self.trust = trust
    self.receivedAt = receivedAt
  }

  /// Returns the app of a body whose parts claim `claimed`; throws if any two differ, or if all are missing.
  func app(claimed: [String?]) throws(MessageError) -> String {
    let claimed = claimed.compactMap(\.self)
    let known = app ?? claimed.first
    if let known, let other = claimed.first(where: { $0 != known }) {
      throw MessageError(.authentic, .wrongBundle, "it is of \(other.prefix(255)), not of \(known)", claimedApp: other)
    }
    guard let app = known, app != "" else {
      throw MessageError(
        .legacy, .unknownApp,
        "the body names no app (bid came in 2020) and its secret is not known; give Apple the URL with the bundle id")
    }
    return app
  }

  /// Returns the environment of a body with `names`, in Apple's several spellings; throws if it is unknown.
  ///
  /// Undocumented or contradictory names decide nothing, and `environment` applies. A body that names one environment
  /// is never read as one of another.
  func environment(named names: String?..., app: String) throws(MessageError) -> Environment {
    let named = NamedEnvironments(names)
    if let environment, named.known.isEmpty || named.known.contains(environment) { return environment }
    if let environment, let other = named.known.first {
      throw MessageError(
        .legacy, .environmentUnknown,
        "the request says \(environment.rawValue), the body says \(other.rawValue); hand it in without an environment, or as \(other.rawValue)",
        claimedApp: app)
    }
    if named.known.count > 1 { throw Self.contradiction(named.known[0], named.known[1], app) }
    guard !named.hasUndocumented else {
      throw MessageError(
        .legacy, .environmentUnknown, "the body names an environment Apple does not document", claimedApp: app)
    }
    guard let found = named.known.first else {
      throw MessageError(
        .legacy, .environmentUnknown,
        "neither the body nor the request names an environment; add ?environment=Production or Sandbox",
        claimedApp: app)
    }
    return found
  }

  private static func contradiction(_ a: Environment, _ b: Environment, _ app: String) -> MessageError {
    MessageError(
      .legacy, .environmentUnknown, "it is said to be of \(a.rawValue) and of \(b.rawValue); hand it in as one of them",
      claimedApp: app)
  }
}

/// The environments in the members of a V1 body or response.
struct NamedEnvironments {
  /// The distinct documented ones, in the body's order.
  private(set) var known: [Environment] = []
  private(set) var hasUndocumented = false

  init(_ names: [String?]) {
    for name in names.compactMap(\.self) {
      if let environment = Environment(legacyName: name) {
        if !known.contains(environment) { known.append(environment) }
      } else {
        hasUndocumented = true
      }
    }
  }

  /// Whether they determine the environment.
  var areDecisive: Bool { known.count == 1 && !hasUndocumented }
  /// Whether names exist that do not determine it.
  var areUndecided: Bool { known.count > 1 || hasUndocumented }
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
