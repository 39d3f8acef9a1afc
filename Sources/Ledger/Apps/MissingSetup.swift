package import Database
package import Purchases

/// Something that a registered app still lacks before Apple's notifications can come here without harm.
package enum MissingSetup: Hashable, Sendable {
  /// Nothing is forwarded in this environment: if Apple posts here, the old back end hears nothing.
  case noLegacyURL(App, Environment)
  /// Something is forwarded, and there is no shared secret: V1 notifications are set aside, and reach the old back end as unproven.
  case noSharedSecret(App)
  /// There is no key of the App Store Server API: Apple cannot be asked about this app.
  case noAPIKey(App)

  package var app: App {
    switch self {
    case .noLegacyURL(let app, _), .noSharedSecret(let app), .noAPIKey(let app): app
    }
  }

  /// The command that mends it, to be completed with what only the operator knows.
  package var command: String {
    switch self {
    case .noLegacyURL(let app, let environment):
      "switchyard app legacy-url \(app.bundleID) URL --environment \(environment.rawValue)"
    case .noSharedSecret(let app): "switchyard app secret \(app.bundleID) --shared-secret-file FILE"
    case .noAPIKey(let app): "switchyard app add \(app.bundleID) --key-file FILE --key-id ID --issuer ID"
    }
  }

  /// Returns the gaps of all registered apps, app by app, forwarding first.
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [MissingSetup] {
    all(
      of: try AppTable.all(in: session), forwarding: try DestinationTable.all(in: session),
      withSecret: try CredentialTable.apps(with: .sharedSecret, in: session),
      withKey: try CredentialTable.apps(with: .apiKey, in: session))
  }

  /// - Parameters:
  ///   - destinations: of any app; those that are off forward nothing.
  ///   - secretive: the apps with a shared secret that is in use, whether or not it opens here.
  ///   - keyed: the apps with a key that is in use, whether or not it opens here.
  static func all(
    of apps: [App], forwarding destinations: [Destination], withSecret secretive: Set<App.ID>,
    withKey keyed: Set<App.ID>
  ) -> [MissingSetup] {
    let forwarding = Set(destinations.filter { $0.isEnabled && $0.name == Destination.legacy }.map(\.scope))
    return apps.flatMap { app in
      let silent = [Environment.production, .sandbox].filter {
        !forwarding.contains(AppScope(app: app.id, environment: $0))
      }
      var gaps = silent.map { MissingSetup.noLegacyURL(app, $0) }
      if silent.count < 2, !secretive.contains(app.id) { gaps.append(.noSharedSecret(app)) }
      if !keyed.contains(app.id) { gaps.append(.noAPIKey(app)) }
      return gaps
    }
  }
}
