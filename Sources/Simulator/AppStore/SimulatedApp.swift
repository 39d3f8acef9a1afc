package import Signing

package struct SimulatedApp: Hashable, Sendable {
  package var name: String
  package var bundleID: String
  package var appAppleID: Int64
  /// The environment in which its customers buy.
  ///
  /// By default, Switchyard does not trust the simulator's root for Production.
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

  package var versionExternalIdentifier: Int64 { 860_000_000 + appAppleID % 10_000_000 }
}

package struct Customer: Hashable, Sendable {
  /// The name for readers of a story; no signed payload has it.
  package var name: String
  package var storefront: Storefront
  package var appTransactionID: String
  /// The account in the app's own back end, if the app passes one to Apple.
  package var appAccountToken: String?

  package init(name: String, storefront: Storefront, appTransactionID: String, appAccountToken: String? = nil) {
    self.name = name
    self.storefront = storefront
    self.appTransactionID = appTransactionID
    self.appAccountToken = appAccountToken
  }
}
