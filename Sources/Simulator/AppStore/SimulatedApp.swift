package import Signing

/// An app in the simulated App Store.
package struct SimulatedApp: Hashable, Sendable {
  package var name: String
  package var bundleID: String
  package var appAppleID: Int64
  /// Where its customers buy; the simulator's root is never trusted for Production unless somebody insists.
  package var environment: AppStoreEnvironment
  package var bundleVersion: String

  package init(
    name: String, bundleID: String, appAppleID: Int64, environment: AppStoreEnvironment = .sandbox,
    bundleVersion: String = "214"
  ) {
    self.name = name
    self.bundleID = bundleID
    self.appAppleID = appAppleID
    self.environment = environment
    self.bundleVersion = bundleVersion
  }

  /// Apple's number for the version of the app.
  package var versionExternalIdentifier: Int64 { 860_000_000 + appAppleID % 10_000_000 }
}

/// Somebody who uses one app; in Apple's data known by ids alone.
package struct Customer: Hashable, Sendable {
  /// For the reader of a story; nothing signed carries it.
  package var name: String
  package var storefront: Storefront
  package var appTransactionID: String
  /// The account in the app's own back end, when the app tells Apple of one.
  package var appAccountToken: String?

  package init(name: String, storefront: Storefront, appTransactionID: String, appAccountToken: String? = nil) {
    self.name = name
    self.storefront = storefront
    self.appTransactionID = appTransactionID
    self.appAccountToken = appAccountToken
  }
}
