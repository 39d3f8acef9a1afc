import Rollout
package import Signing

/// An app whose back end is being moved.
package struct App: Hashable, Sendable {
  /// Its number in this database: no identity outside of it.
  package struct ID: Hashable, Sendable, Comparable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  }

  package let id: ID
  package let bundleID: String
  /// Apple's number for it in App Store Connect; must be known before Production messages are accepted.
  package let appAppleID: Int64?

  package init(id: ID, bundleID: String, appAppleID: Int64?) {
    self.id = id
    self.bundleID = bundleID
    self.appAppleID = appAppleID
  }
}

/// Every registered app as of one moment: what the service looks at instead of asking the database for each request.
package struct AppDirectory: Sendable {
  private let byBundleID: [String: App]
  private let byToken: [Digest: App]
  private let flags: [Ledger.Scope: Flag]
  private let legacy: [Ledger.Scope: Destination]
  /// Whether any app passes notifications through, so that their senders have to be looked at first.
  package let passesAnythingThrough: Bool

  package init(
    apps: [App], tokens: [Digest: App.ID], flags: [Ledger.Scope: Flag] = [:], destinations: [Destination] = []
  ) {
    self.flags = flags
    passesAnythingThrough = flags.values.contains { $0.stage.notifications == .passThrough }
    let enabled = destinations.filter { $0.isEnabled && $0.name == Destination.legacy }
    legacy = Dictionary(enabled.map { ($0.scope, $0) }) { first, _ in first }
    byBundleID = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    let byID = Dictionary(apps.map { ($0.id, $0) }) { first, _ in first }
    byToken = tokens.compactMapValues { byID[$0] }
  }

  package var apps: [App] { byBundleID.values.sorted { $0.bundleID < $1.bundleID } }

  package subscript(bundleID: String) -> App? { byBundleID[bundleID] }

  /// The app's stage in an environment; nil where it has none, as in Xcode's.
  package func flag(of scope: Ledger.Scope) -> Flag? { flags[scope] }

  /// The app's old back end, when it is enabled.
  package func legacyDestination(of scope: Ledger.Scope) -> Destination? { legacy[scope] }

  /// The app that a bearer token is for; what is compared is the token's SHA-256, so its secret cannot be timed.
  package func app(token: String) -> App? { byToken[.sha256(Array(token.utf8))] }
}
