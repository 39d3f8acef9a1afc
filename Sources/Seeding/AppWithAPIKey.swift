package import AppStore
package import Database
package import Ledger
import Purchases
import Rollout
package import Signing

/// An app about which Apple can be asked: a key of the App Store Server API is sealed here, and opens.
package struct AppWithAPIKey: Sendable {
  package let app: App
  package let credentials: AppCredentials

  /// Every such app, each with its newest key; beside them the keys that cannot be used, with the reason.
  package static func all(
    with keys: Keyring, in session: borrowing Session
  ) throws(DatabaseError) -> (askable: [Self], unusable: [CredentialTable.Unopened]) {
    let found = try CredentialTable.open(.apiKey, with: keys, in: session)
    var unusable = found.unopened
    var newest: [App.ID: AppCredentials] = [:]
    let apps = try AppTable.all(in: session)
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    for key in found.opened {
      guard let bundleID = names[key.app] else { continue }
      do throws(CertificateError) {
        newest[key.app] = AppCredentials(
          bundleID: bundleID, key: try APIKey(issuerID: key.issuer, keyID: key.name, pem: key.secret))
      } catch {
        unusable.append(.init(app: key.app, name: key.name, reason: "\(error)"))
      }
    }
    return (apps.compactMap { app in newest[app.id].map { Self(app: app, credentials: $0) } }, unusable)
  }

  /// The apps for the look-ups of seeds: about whom Apple is asked where, from `record` on.
  package static func seeding(
    with keys: Keyring, in session: borrowing Session
  ) throws(DatabaseError) -> (access: [AppleAccess], unopened: [CredentialTable.Unopened]) {
    let (askable, unusable) = try all(with: keys, in: session)
    let flags = try StageTable.all(in: session)
    let access = askable.map { askable in
      AppleAccess(
        app: askable.app, credentials: askable.credentials,
        environments: APIEnvironment.allCases.filter { environment in
          let scope = AppScope(app: askable.app.id, environment: Environment(environment))
          return flags[scope]?.stage.notifications == .record
        })
    }
    return (access, unusable)
  }
}
