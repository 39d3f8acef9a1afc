package import Database
package import Purchases

/// Something that a registered app still lacks before Apple's notifications can come here without harm.
package enum SetupGap: Hashable, Sendable {
  /// Nothing is forwarded in this environment: if Apple posts here, the old back end hears nothing.
  case noLegacyURL(App, Environment)
  /// There is no key of the App Store Server API: Apple cannot be asked about this app.
  case noAPIKey(App)

  package var app: App {
    switch self {
    case .noLegacyURL(let app, _), .noAPIKey(let app): app
    }
  }

  /// The command that mends it, to be completed with what only the operator knows.
  package var command: String {
    switch self {
    case .noLegacyURL(let app, let environment):
      "switchyard app legacy-url \(app.bundleID) URL --environment \(environment.rawValue)"
    case .noAPIKey(let app): "switchyard app add \(app.bundleID) --key-file FILE --key-id ID --issuer ID"
    }
  }

  /// Returns the gaps of all registered apps, app by app, forwarding first.
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [SetupGap] {
    all(
      of: try AppTable.all(in: session), forwarding: try DestinationTable.all(in: session),
      withKey: try CredentialTable.apps(with: .apiKey, in: session))
  }

  /// - Parameters:
  ///   - destinations: of any app; those that are off forward nothing.
  ///   - keyed: the apps with a key that is in use, whether or not it opens here.
  static func all(of apps: [App], forwarding destinations: [Destination], withKey keyed: Set<App.ID>) -> [SetupGap] {
    let forwarding = Set(destinations.filter { $0.isEnabled && $0.name == Destination.legacy }.map(\.scope))
    return apps.flatMap { app in
      [Environment.production, .sandbox].filter { !forwarding.contains(Ledger.Scope(app: app.id, environment: $0)) }
        .map { .noLegacyURL(app, $0) } + (keyed.contains(app.id) ? [] : [.noAPIKey(app)])
    }
  }
}
