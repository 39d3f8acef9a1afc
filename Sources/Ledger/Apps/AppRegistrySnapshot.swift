package import JSON
import Rollout
package import Signing

package struct AppRegistrySnapshot: Sendable {
  private let byBundleID: [String: App]
  private let byToken: [Digest: App]
  private let flags: [AppScope: StageRecord]
  private let legacy: [AppScope: Destination]
  private let secrets: SharedSecrets
  private let denyingUnproven: Set<App.ID>
  private let readings: [App.ID: [String]]
  private let clients: [App.ID: AnswerClients]
  /// Finds the apps' shared secrets in texts, even retired ones.
  package let secretFilter: SecretFilter
  /// The registered shared secrets that do not open here.
  package let unopened: [CredentialTable.Unopened]
  /// Whether a valid shared secret is sealed under another master key.
  ///
  /// Damaged secrets do not count.
  package var hasSecretOfAnotherKey: Bool { unopened.contains { $0.isOfAnotherKey && !$0.isRetired } }
  /// The missing setup of registered apps, by app.
  package let gaps: [MissingSetup]
  /// Whether any app passes notifications through.
  ///
  /// If so, the sender of each must be checked first.
  package let passesAnythingThrough: Bool
  /// Whether Switchyard answers verifyReceipt of any app.
  ///
  /// If so, each request must be parsed first.
  package let answersAnything: Bool
  package let comparesAnything: Bool

  /// - Parameters:
  ///   - denyingUnproven: the apps whose unproven messages are not forwarded.
  ///   - readings: the rows of `answer-rules.tsv` that apps chose.
  ///   - clients: the requests without a password that get subscriptions. Default: `password`.
  package init(
    apps: [App], tokens: [Digest: App.ID], flags: [AppScope: StageRecord] = [:], destinations: [Destination] = [],
    secrets: SharedSecrets = SharedSecrets(), secretFilter: SecretFilter = SecretFilter(),
    unopened: [CredentialTable.Unopened] = [], gaps: [MissingSetup] = [], denyingUnproven: Set<App.ID> = [],
    answerReadings readings: [App.ID: [String]] = [:], answerClients clients: [App.ID: AnswerClients] = [:]
  ) {
    self.readings = readings
    self.clients = clients
    self.denyingUnproven = denyingUnproven
    self.flags = flags
    passesAnythingThrough = flags.values.contains { $0.stage.notifications == .passThrough }
    answersAnything = flags.values.contains { $0.stage.answers != .apple }
    comparesAnything = flags.values.contains { $0.stage.comparesAnswers }
    let enabled = destinations.filter { $0.isEnabled && $0.name == Destination.legacy }
    legacy = Dictionary(enabled.map { ($0.scope, $0) }) { first, _ in first }
    byBundleID = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    let byID = Dictionary(apps.map { ($0.id, $0) }) { first, _ in first }
    byToken = tokens.compactMapValues { byID[$0] }
    self.secrets = secrets
    self.secretFilter = secretFilter
    self.unopened = unopened
    self.gaps = gaps
  }

  package var apps: [App] { byBundleID.values.sorted { $0.bundleID < $1.bundleID } }

  package subscript(bundleID: String) -> App? { byBundleID[bundleID] }

  /// Returns the app's stage, or `nil` in an environment without one, as in Xcode's.
  package func flag(of scope: AppScope) -> StageRecord? { flags[scope] }

  package var mark: Int64 { flags.values.reduce(0) { $0 + $1.epoch } }

  /// Returns the app's destination if it is enabled.
  package func legacyDestination(of scope: AppScope) -> Destination? { legacy[scope] }

  package func forwardsUnproven(_ app: App) -> Bool { !denyingUnproven.contains(app.id) }

  package func answerReadings(of app: App) -> [String] { readings[app.id] ?? [] }

  package func answerClients(of app: App) -> AnswerClients { clients[app.id] ?? .password }

  /// Returns the app of a bearer token.
  ///
  /// It compares SHA-256 digests, so timing does not reveal the token.
  package func app(token: String) -> App? { byToken[.sha256(Array(token.utf8))] }

  /// Returns the app whose client has this certificate, as a trusted proxy reports it.
  package func app(certificate: CertificateFingerprint) -> App? { app(token: TokenTable.text(of: certificate)) }

  package func hasSecret(_ app: App) -> Bool { secrets.hasAny(of: app.id) }

  package func hasUnopenedSecret(_ app: App) -> Bool { unopened.contains { $0.app == app.id && !$0.isRetired } }

  package func accepts(_ secret: String, of app: App) -> Bool { !secrets.holders(of: secret, among: [app]).isEmpty }

  /// Whether a V1 body has another app's shared secret and does not name this app.
  ///
  /// Apple may send the account's secret, which is not registered for each app.
  package func isOfAnother(_ body: JSONObject, than app: App) -> Bool {
    guard body["bid"]?.string != app.bundleID, let secret = body["password"]?.string else { return false }
    let holders = apps(withSecret: secret)
    return !holders.isEmpty && !holders.contains { $0.id == app.id }
  }

  /// Returns the apps that have this secret: several if they share their account's primary one.
  package func apps(withSecret secret: String) -> [App] { secrets.holders(of: secret, among: apps) }
}
