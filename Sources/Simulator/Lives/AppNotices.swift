import JSON
import Signing
package import Time

/// Notifications that are about no purchase.
package struct AppNotices: Sendable {
  package let app: SimulatedApp
  private var ids: IdentifierSource

  package init(of app: SimulatedApp, ids: IdentifierSource) {
    self.app = app
    self.ids = ids
  }

  /// What Request a Test Notification sends.
  package mutating func test(at date: Milliseconds) -> NotificationDraft {
    tell("TEST", at: date, .data(NotificationSubject()))
  }

  /// The end of a mass extension.
  package mutating func renewalExtensionSummary(
    of product: Product, succeeded: Int64, failed: Int64, at date: Milliseconds
  ) -> NotificationDraft {
    var summary = PayloadMembers()
    summary.add("requestIdentifier", ids.uuid())
    summary.add("environment", app.environment.rawValue)
    summary.add("appAppleId", app.appAppleID)
    summary.add("bundleId", app.bundleID)
    summary.add("productId", product.id)
    summary.add("storefrontCountryCodes", .array([.string(Storefront.unitedStates.code)]))
    summary.add("succeededCount", succeeded)
    summary.add("failedCount", failed)
    return tell("RENEWAL_EXTENSION", "SUMMARY", at: date, .summary(summary.object))
  }

  /// A token for purchases outside of the App Store was made.
  package mutating func externalPurchaseToken(at date: Milliseconds) -> NotificationDraft {
    // The id alone tells the environment.
    let prefix = app.environment == .production ? "" : "SANDBOX_"
    var token = PayloadMembers()
    token.add("externalPurchaseId", prefix + ids.uuid())
    token.add("tokenCreationDate", date)
    token.add("appAppleId", app.appAppleID)
    token.add("bundleId", app.bundleID)
    token.add("tokenType", "ACQUISITION")
    token.add("tokenExpirationDate", date + .days(365))
    return tell("EXTERNAL_PURCHASE_TOKEN", "CREATED", at: date, .externalPurchaseToken(token.object))
  }

  /// A parent no longer agrees that a child uses the app.
  package mutating func rescindConsent(
    _ appTransaction: SimulatedAppTransaction, at date: Milliseconds
  ) -> NotificationDraft {
    tell("RESCIND_CONSENT", at: date, .appData(appTransaction.payload(signedAt: date)))
  }

  private mutating func tell(
    _ type: String, _ subtype: String? = nil, at date: Milliseconds, _ content: NotificationDraft.Content
  ) -> NotificationDraft {
    let signed = date + .milliseconds(Int64(ids.random.number(in: 200..<2_000)))
    return NotificationDraft(type, subtype, of: app, at: signed, uuid: ids.uuid(), content)
  }
}
