import Rollout
package import Signing

/// Every registered app as of one moment: what the service looks at instead of asking the database for each request.
package struct AppDirectory: Sendable {
  private let byBundleID: [String: App]
  private let byToken: [Digest: App]
  private let flags: [Ledger.Scope: Flag]
  private let legacy: [Ledger.Scope: Destination]
  private let secrets: [App.ID: [SecretCode]]
  private let sealed: [App.ID: [CredentialTable.SealedSecret]]
  private let denyingUnproven: Set<App.ID>
  /// Shared secrets that are registered and cannot be read here.
  package let unopened: [CredentialTable.Unopened]
  /// What registered apps still lack, app by app.
  package let gaps: [SetupGap]
  /// Whether any app passes notifications through, so that their senders have to be looked at first.
  package let passesAnythingThrough: Bool

  /// - Parameters:
  ///   - secrets: the codes of each app's valid shared secrets, under every master key.
  ///   - sealed: the secrets themselves, as they are stored, the retired ones too.
  ///   - denyingUnproven: the apps whose unproven messages are not forwarded.
  package init(
    apps: [App], tokens: [Digest: App.ID], flags: [Ledger.Scope: Flag] = [:], destinations: [Destination] = [],
    secrets: [App.ID: [SecretCode]] = [:], sealed: [App.ID: [CredentialTable.SealedSecret]] = [:],
    unopened: [CredentialTable.Unopened] = [], gaps: [SetupGap] = [], denyingUnproven: Set<App.ID> = []
  ) {
    self.denyingUnproven = denyingUnproven
    self.flags = flags
    passesAnythingThrough = flags.values.contains { $0.stage.notifications == .passThrough }
    let enabled = destinations.filter { $0.isEnabled && $0.name == Destination.legacy }
    legacy = Dictionary(enabled.map { ($0.scope, $0) }) { first, _ in first }
    byBundleID = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    let byID = Dictionary(apps.map { ($0.id, $0) }) { first, _ in first }
    byToken = tokens.compactMapValues { byID[$0] }
    self.secrets = secrets
    self.sealed = sealed
    self.unopened = unopened
    self.gaps = gaps
  }

  package var apps: [App] { byBundleID.values.sorted { $0.bundleID < $1.bundleID } }

  package subscript(bundleID: String) -> App? { byBundleID[bundleID] }

  /// The app's stage in an environment; nil where it has none, as in Xcode's.
  package func flag(of scope: Ledger.Scope) -> Flag? { flags[scope] }

  /// The app's old back end, when it is enabled.
  package func legacyDestination(of scope: Ledger.Scope) -> Destination? { legacy[scope] }

  /// Whether messages of the app that nobody vouches for go to its old back end.
  package func forwardsUnproven(_ app: App) -> Bool { !denyingUnproven.contains(app.id) }

  /// The app that a bearer token is for; what is compared is the token's SHA-256, so its secret cannot be timed.
  package func app(token: String) -> App? { byToken[.sha256(Array(token.utf8))] }

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

  /// The app's shared secrets themselves, the retired ones too, opened for the moment in which a body is made whole.
  package func sharedSecrets(of app: App.ID, with keys: Keyring) -> [[UInt8]] {
    (sealed[app] ?? []).compactMap { $0.opened(with: keys) }
  }
}
