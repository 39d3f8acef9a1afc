package import AppStore
package import Database
package import Ledger
package import Purchases
import Rollout
package import Signing

/// As whom Apple may be asked about an app, and where.
package struct SeedingAccess: Sendable {
  package let app: App
  package let credentials: AppCredentials
  /// The environments in which the app is in `record` or beyond.
  package let environments: [APIEnvironment]

  package init(app: App, credentials: AppCredentials, environments: [APIEnvironment]) {
    self.app = app
    self.credentials = credentials
    self.environments = environments
  }

  /// What the ledger has sealed: the apps with a key that is valid, each with its newest; beside them the keys that
  /// cannot be read here.
  package static func all(
    with keys: Keyring, in session: borrowing Session
  ) throws(DatabaseError) -> (access: [SeedingAccess], unopened: [CredentialTable.Unopened]) {
    var (sealed, unopened) = try CredentialTable.open(.apiKey, with: keys, in: session)
    let flags = try FlagTable.all(in: session)
    var access: [SeedingAccess] = []
    for app in try AppTable.all(in: session) {
      let environments = APIEnvironment.allCases.filter { environment in
        let flag = flags[Ledger.Scope(app: app.id, environment: Environment(environment))]
        return flag.map { $0.stage != .legacy } ?? false
      }
      // They are in the order in which they were made.
      while let last = sealed.last(where: { $0.app == app.id }) {
        do throws(CertificateError) {
          let key = try APIKey(issuerID: last.issuer, keyID: last.name, pem: last.secret)
          access.append(
            SeedingAccess(
              app: app, credentials: AppCredentials(bundleID: app.bundleID, key: key), environments: environments))
          break
        } catch {
          unopened.append(CredentialTable.Unopened(app: app.id, name: last.name, reason: "\(error)"))
          sealed.removeAll { $0.app == last.app && $0.name == last.name }
        }
      }
    }
    return (access, unopened)
  }
}

extension Environment {
  package init(_ environment: APIEnvironment) {
    switch environment {
    case .production: self = .production
    case .sandbox: self = .sandbox
    }
  }
}

extension APIEnvironment {
  /// Nil for what Apple's servers know nothing of.
  package init?(_ environment: Environment) {
    switch environment {
    case .production: self = .production
    case .sandbox: self = .sandbox
    case .xcode, .localTesting: return nil
    }
  }
}
