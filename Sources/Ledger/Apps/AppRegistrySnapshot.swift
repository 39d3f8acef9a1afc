package import JSON
import Rollout
package import Signing

/// Every registered app as of one moment: what the service looks at instead of asking the database for each request.
package struct AppRegistrySnapshot: Sendable {
  private let byBundleID: [String: App]
  private let byToken: [Digest: App]
  private let flags: [AppScope: StageRecord]
  private let legacy: [AppScope: Destination]
  private let secrets: SharedSecrets
  private let denyingUnproven: Set<App.ID>
  private let readings: [App.ID: [String]]
  private let clients: [App.ID: AnswerClients]
  /// Finds the apps' shared secrets in texts, the retired ones too: nobody else is to read those either.
  package let secretFilter: SecretFilter
  /// Shared secrets that are registered and cannot be read here.
  package let unopened: [CredentialTable.Unopened]
  /// Whether a valid shared secret is sealed under another master key; one that is damaged is no reason to stop.
  package var hasSecretOfAnotherKey: Bool { unopened.contains { $0.isOfAnotherKey && !$0.isRetired } }
  /// What registered apps still lack, app by app.
  package let gaps: [MissingSetup]
  /// Whether any app passes notifications through, so that their senders have to be looked at first.
  package let passesAnythingThrough: Bool
  /// Whether any app's verifyReceipt is answered by us, for some customers at least: requests have to be looked at first.
  package let answersAnything: Bool
  /// Whether any app's answers are compared with Apple's.
  package let comparesAnything: Bool

  /// - Parameters:
  ///   - denyingUnproven: the apps whose unproven messages are not forwarded.
  ///   - readings: the rows of `answer-rules.tsv` that apps chose.
  ///   - clients: which requests without a password get subscriptions; `password` where an app is not named.
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

  /// The app's stage in an environment; nil where it has none, as in Xcode's.
  package func flag(of scope: AppScope) -> StageRecord? { flags[scope] }

  /// A number that changes with every change of a stage.
  package var mark: Int64 { flags.values.reduce(0) { $0 + $1.epoch } }

  /// The app's old back end, when it is enabled.
  package func legacyDestination(of scope: AppScope) -> Destination? { legacy[scope] }

  /// Whether messages of the app that nobody vouches for go to its old back end.
  package func forwardsUnproven(_ app: App) -> Bool { !denyingUnproven.contains(app.id) }

  /// The rows of `answer-rules.tsv` that hold for the app in place of the defaults, in order.
  package func answerReadings(of app: App) -> [String] { readings[app.id] ?? [] }

  /// Which requests without a password get the app's subscriptions.
  package func answerClients(of app: App) -> AnswerClients { clients[app.id] ?? .password }

  /// The app that a bearer token is for; what is compared is the token's SHA-256, so its secret cannot be timed.
  package func app(token: String) -> App? { byToken[.sha256(Array(token.utf8))] }

  /// The app whose client has this certificate, where a trusted proxy says so.
  package func app(certificate: CertificateFingerprint) -> App? { app(token: TokenTable.text(of: certificate)) }

  /// Whether the app has a valid shared secret that can be compared.
  package func hasSecret(_ app: App) -> Bool { secrets.hasAny(of: app.id) }

  /// Whether the app has a valid shared secret that cannot be read here.
  package func hasUnopenedSecret(_ app: App) -> Bool { unopened.contains { $0.app == app.id && !$0.isRetired } }

  /// Whether it is one of the app's valid secrets.
  package func accepts(_ secret: String, of app: App) -> Bool { !secrets.holders(of: secret, among: [app]).isEmpty }

  /// Whether a V1 body is another app's by its shared secret, and does not name this app: Apple may send the secret of the account,
  /// which is not registered for each app.
  package func isOfAnother(_ body: JSONObject, than app: App) -> Bool {
    guard body["bid"]?.string != app.bundleID, let secret = body["password"]?.string else { return false }
    let holders = apps(withSecret: secret)
    return !holders.isEmpty && !holders.contains { $0.id == app.id }
  }

  /// The apps that have this secret: several, when they share their account's primary one.
  package func apps(withSecret secret: String) -> [App] { secrets.holders(of: secret, among: apps) }
}
