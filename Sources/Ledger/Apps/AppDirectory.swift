package import Purchases
package import Signing

/// Every registered app as of one moment: what the service looks at instead of asking the database for each request.
package struct AppDirectory: Sendable {
  private let byBundleID: [String: App]
  private let byToken: [Digest: App]
  private let stages: [App.ID: [Environment: Stage]]
  private let secrets: [App.ID: [SecretCode]]
  /// Shared secrets that are registered and cannot be read here.
  package let unopened: [CredentialTable.Unopened]

  /// - Parameter secrets: the codes of each app's valid shared secrets, under every master key.
  package init(
    apps: [App], tokens: [Digest: App.ID], stages: [App.ID: [Environment: Stage]] = [:],
    secrets: [App.ID: [SecretCode]] = [:], unopened: [CredentialTable.Unopened] = []
  ) {
    byBundleID = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    let byID = Dictionary(apps.map { ($0.id, $0) }) { first, _ in first }
    byToken = tokens.compactMapValues { byID[$0] }
    self.stages = stages
    self.secrets = secrets
    self.unopened = unopened
  }

  package var apps: [App] { byBundleID.values.sorted { $0.bundleID < $1.bundleID } }

  package subscript(bundleID: String) -> App? { byBundleID[bundleID] }

  /// The app that a bearer token is for; what is compared is the token's SHA-256, so its secret cannot be timed.
  package func app(token: String) -> App? { byToken[.sha256(Array(token.utf8))] }

  /// How far the app has moved there; nil for an environment without stages, as Xcode's.
  package func stage(of app: App, in environment: Environment) -> Stage? { stages[app.id]?[environment] }

  /// Whether the app has a valid shared secret that can be compared.
  package func hasSecret(_ app: App) -> Bool { secrets[app.id]?.isEmpty == false }

  /// Whether `code` is of one of the app's valid secrets; all are compared, in constant time.
  package func accepts(_ code: SecretCode, of app: App) -> Bool {
    var isKnown = false
    for secret in secrets[app.id] ?? [] where secret.matches(code) { isKnown = true }
    return isKnown
  }

  /// The apps that have this secret: several, when they share their account's primary one.
  package func apps(withSecret code: SecretCode) -> [App] { apps.filter { accepts(code, of: $0) } }
}
