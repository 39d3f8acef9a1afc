public import Purchases
public import Time

/// What was found out about the sender of something unsigned, before it was read.
public struct V1Context: Sendable {
  /// The bundle id, by `bid`, by the secret, by the URL or by the token; nil when none of them told.
  public var app: String?
  /// By the URL or the request; nil when the body has to tell.
  public var environment: Environment?
  public var trust: MessageDecoder.Proof
  /// What is said to be later than this is believed to be of this time.
  public var receivedAt: Timestamp

  public init(app: String?, environment: Environment?, trust: MessageDecoder.Proof, receivedAt: Timestamp) {
    self.app = app
    self.environment = environment
    self.trust = trust
    self.receivedAt = receivedAt
  }

  /// The app of a body whose parts claim `claimed`; refused when any two differ, or when nobody names one.
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

  /// The environment of a body that says `names`, in Apple's several words; refused when nobody knows it.
  ///
  /// Names that Apple does not document, or that contradict each other, decide nothing: `environment` decides then. A
  /// body that names one environment is never taken for one of another.
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

/// The environments that a V1 body or an answer names, in its several places.
struct NamedEnvironments {
  /// Those that Apple documents, each once, in the body's order.
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

  /// Whether they settle what the environment is.
  var areDecisive: Bool { known.count == 1 && !hasUndocumented }
  /// Whether there are any, of which none is the one to believe.
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
