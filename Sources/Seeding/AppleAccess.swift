package import AppStore
package import Ledger
package import Purchases

/// As whom Apple may be asked about an app, and where.
package struct AppleAccess: Sendable {
  package let app: App
  package let credentials: AppCredentials
  /// The environments in which the app is in `record` or beyond.
  package let environments: [APIEnvironment]

  package init(app: App, credentials: AppCredentials, environments: [APIEnvironment]) {
    self.app = app
    self.credentials = credentials
    self.environments = environments
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
