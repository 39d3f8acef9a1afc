package import JSON
import Signing
package import Time

/// A customer's download of an app.
///
/// Apple: AppTransaction (StoreKit).
package struct SimulatedAppTransaction: Hashable, Sendable {
  package var app: SimulatedApp
  package var customer: Customer
  package var originalPurchaseDate: Timestamp
  package var originalApplicationVersion: String
  /// The date of a preorder; `nil` without one.
  package var preorderDate: Timestamp?
  /// The raw value of Apple's `originalPlatform`.
  package var originalPlatform = "iOS"

  package init(
    app: SimulatedApp, customer: Customer, downloadedAt date: Timestamp, originalApplicationVersion: String = "100"
  ) {
    self.app = app
    self.customer = customer
    originalPurchaseDate = date
    self.originalApplicationVersion = originalApplicationVersion
  }

  /// Returns the payload signed at `date`; without a date the unsigned content.
  package func payload(signedAt date: Timestamp?) -> JSONObject {
    var payload = PayloadMembers()
    payload.add("receiptType", app.environment.rawValue)
    payload.add("appAppleId", app.appAppleID)
    payload.add("bundleId", app.bundleID)
    payload.add("applicationVersion", app.bundleVersion)
    payload.add("versionExternalIdentifier", app.versionExternalIdentifier)
    payload.add("receiptCreationDate", date)
    payload.add("originalPurchaseDate", originalPurchaseDate)
    payload.add("originalApplicationVersion", originalApplicationVersion)
    payload.add("preorderDate", preorderDate)
    payload.add("appTransactionId", customer.appTransactionID)
    payload.add("originalPlatform", originalPlatform)
    return payload.object
  }
}
