package import Signing

/// One app in one environment: the scope of App Store Connect settings and of tokens.
package struct SimulatedAppScope: Hashable, Sendable {
  package let bundleID: String
  package let environment: AppStoreEnvironment

  package init(bundleID: String, environment: AppStoreEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }

  package init(_ app: SimulatedApp) { self.init(bundleID: app.bundleID, environment: app.environment) }

  var isSandbox: Bool { environment != .production }
}
