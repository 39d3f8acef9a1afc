import JSON
import Signing
package import Time

extension NotificationDraft {
  package static func test(of app: SimulatedApp, at date: Timestamp, uuid: String) -> Self {
    Self("TEST", of: app, at: date, uuid: uuid, .data(NotificationSubject()))
  }

  /// Creates the summary of a mass extension.
  ///
  /// - Parameter storefronts: their codes; nil: all.
  package static func extensionSummary(
    of productID: String, request: String, storefronts: [String]?, succeeded: Int64, failed: Int64,
    of app: SimulatedApp, at date: Timestamp, uuid: String
  ) -> Self {
    var summary = PayloadMembers()
    summary.add("requestIdentifier", request)
    summary.add("environment", app.environment.rawValue)
    summary.add("appAppleId", app.appAppleID)
    summary.add("bundleId", app.bundleID)
    summary.add("productId", productID)
    summary.add("storefrontCountryCodes", storefronts.map { .array($0.sorted().map(JSONValue.string)) })
    summary.add("succeededCount", succeeded)
    summary.add("failedCount", failed)
    return Self("RENEWAL_EXTENSION", "SUMMARY", of: app, at: date, uuid: uuid, .summary(summary.object))
  }

  package static func externalPurchaseToken(
    _ id: String, of app: SimulatedApp, at date: Timestamp, uuid: String
  ) -> Self {
    var token = PayloadMembers()
    // Only the ID shows the environment.
    token.add("externalPurchaseId", (app.environment == .production ? "" : "SANDBOX_") + id)
    token.add("tokenCreationDate", date)
    token.add("appAppleId", app.appAppleID)
    token.add("bundleId", app.bundleID)
    token.add("tokenType", "ACQUISITION")
    token.add("tokenExpirationDate", date + .days(365))
    return Self(
      "EXTERNAL_PURCHASE_TOKEN", "CREATED", of: app, at: date, uuid: uuid, .externalPurchaseToken(token.object))
  }

  /// Reports that a parent no longer agrees that a child uses the app.
  package static func rescindConsent(
    _ appTransaction: SimulatedAppTransaction, at date: Timestamp, uuid: String
  ) -> Self {
    Self(
      "RESCIND_CONSENT", of: appTransaction.app, at: date, uuid: uuid, .appData(appTransaction.payload(signedAt: date)))
  }
}
