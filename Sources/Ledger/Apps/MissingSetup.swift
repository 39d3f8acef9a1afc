package import Database
package import Purchases

/// A setting that a registered app lacks before Apple can send notifications to Switchyard safely.
package enum MissingSetup: Hashable, Sendable {
  /// Forwarding is off in this environment: if Apple posts here, the destination receives no notifications.
  case noLegacyURL(App, Environment)
  /// Forwarding is on without a shared secret: V1 notifications are quarantined and forwarded as unproven.
  case noSharedSecret(App)
  /// The app has no key of the App Store Server API.
  case noAPIKey(App)

  package var app: App {
    switch self {
    case .noLegacyURL(let app, _), .noSharedSecret(let app), .noAPIKey(let app): app
    }
  }

  /// The command that fixes the setup.
  ///
  /// The operator adds the values.
  package var command: String {
    switch self {
    case .noLegacyURL(let app, let environment):
      "switchyard app legacy-url \(app.bundleID) URL --environment \(environment.rawValue)"
    case .noSharedSecret(let app): "switchyard app secret \(app.bundleID) --shared-secret-file FILE"
    case .noAPIKey(let app): "switchyard app add \(app.bundleID) --key-file FILE --key-id ID --issuer ID"
    }
  }

  package static func all(in session: borrowing Session) throws(DatabaseError) -> [MissingSetup] {
    all(
      of: try AppTable.all(in: session), forwarding: try DestinationTable.all(in: session),
      withSecret: try CredentialTable.apps(with: .sharedSecret, in: session),
      withKey: try CredentialTable.apps(with: .apiKey, in: session))
  }

  /// - Parameters:
  ///   - destinations: of any app. Disabled ones forward no messages.
  ///   - secretive: the apps with a shared secret in use, even one that does not open here.
  ///   - keyed: the apps with a key in use, even one that does not open here.
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
