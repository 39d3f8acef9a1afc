package import JSON
package import Signing
package import Time

/// One charge or grant with all of Apple's members; tests change parts to make wrong ones.
///
/// Apple: JWSTransactionDecodedPayload (App Store Server API 1.21).
package struct SimulatedTransaction: Hashable, Sendable {
  /// The raw value is the payload's `inAppOwnershipType`.
  package enum Ownership: String, Hashable, Sendable, CaseIterable {
    case purchased = "PURCHASED"
    case familyShared = "FAMILY_SHARED"
  }

  /// The raw value is the payload's `transactionReason`.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case purchase = "PURCHASE"
    case renewal = "RENEWAL"
  }

  package var transactionID: String
  package var originalTransactionID: String
  /// `nil` unless the product renews.
  package var webOrderLineItemID: String?
  package var bundleID: String
  package var environment: AppStoreEnvironment
  package var product: Product
  package var purchaseDate: Timestamp
  package var originalPurchaseDate: Timestamp
  package var expiresDate: Timestamp?
  package var quantity: Int64 = 1
  package var ownership = Ownership.purchased
  package var reason = Reason.purchase
  package var offer: Offer?
  package var commitment: Commitment?
  package var revocation: Revocation?
  package var isUpgraded = false
  package var appAccountToken: String?
  package var appTransactionID: String
  package var storefront: Storefront
  /// In thousandths of a US dollar.
  package var price: Int64

  /// Creates a first purchase, which is its own original.
  ///
  /// Its period ends with the offer's, otherwise with the product's.
  package init(
    of product: Product, by customer: Customer, in app: SimulatedApp, at date: Timestamp, offer: Offer? = nil,
    ids: inout IdentifierSource
  ) {
    let id = ids.transactionID()
    self.init(
      id: id, of: product, by: customer, in: app, at: date, line: product.period == nil ? nil : ids.webOrderLineItemID()
    )
    expiresDate = product.period.map { (offer?.period ?? $0).end(after: date) }
    self.offer = offer
    price = offer?.price ?? product.price
  }

  /// Creates one with a known ID, and a line item if it renews, still without a period.
  init(
    id: String, of product: Product, by customer: Customer, in app: SimulatedApp, at date: Timestamp, line: String?
  ) {
    transactionID = id
    originalTransactionID = id
    webOrderLineItemID = line
    bundleID = app.bundleID
    environment = app.environment
    self.product = product
    purchaseDate = date
    originalPurchaseDate = date
    appAccountToken = customer.appAccountToken
    appTransactionID = customer.appTransactionID
    storefront = customer.storefront
    price = product.price
  }

  /// Returns the payload signed at `date`, in Apple's order of members; without a date the unsigned content.
  package func payload(signedAt date: Timestamp?) -> JSONObject {
    var payload = PayloadMembers()
    payload.add("transactionId", transactionID)
    payload.add("originalTransactionId", originalTransactionID)
    payload.add("webOrderLineItemId", webOrderLineItemID)
    payload.add("bundleId", bundleID)
    payload.add("productId", product.id)
    payload.add("subscriptionGroupIdentifier", product.subscriptionGroupID)
    payload.add("purchaseDate", purchaseDate)
    payload.add("originalPurchaseDate", originalPurchaseDate)
    payload.add("expiresDate", expiresDate)
    payload.add("quantity", quantity)
    payload.add("type", product.kind.rawValue)
    payload.add("appAccountToken", appAccountToken)
    payload.add("inAppOwnershipType", ownership.rawValue)
    payload.add("signedDate", date)
    payload.add("revocationReason", revocation?.reason)
    payload.add("revocationDate", revocation?.date)
    payload.add("revocationType", revocation?.kind.rawValue)
    payload.add("revocationPercentage", revocation?.percentage)
    payload.add("isUpgraded", isUpgraded ? true : nil)
    payload.add("offerType", offer?.kind.rawValue)
    payload.add("offerIdentifier", offer?.identifier)
    payload.add("environment", environment.rawValue)
    payload.add("transactionReason", reason.rawValue)
    payload.add("storefront", storefront.code)
    payload.add("storefrontId", storefront.id)
    payload.add("price", storefront.price(price))
    payload.add("currency", storefront.currency)
    payload.add("offerDiscountType", offer?.discount.rawValue)
    payload.add("appTransactionId", appTransactionID)
    payload.add("offerPeriod", offer?.period.iso8601)
    if let commitment {
      var info = PayloadMembers()
      info.add("billingPeriodNumber", Int64(commitment.period))
      info.add("commitmentExpiresDate", commitment.expiresDate)
      info.add("commitmentPrice", storefront.price(commitment.price))
      info.add("totalBillingPeriods", Int64(commitment.periods))
      payload.add("billingPlanType", "MONTHLY")
      payload.add("commitmentInfo", .object(info.object))
    }
    return payload.object
  }
}

package struct Revocation: Hashable, Sendable {
  /// The raw value is the payload's `revocationType`.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case refundFull = "REFUND_FULL"
    case refundProrated = "REFUND_PRORATED"
    case familyRevoke = "FAMILY_REVOKE"
  }

  package var date: Timestamp
  package var kind: Kind
  /// 1: an issue in the app; 0: anything else.
  package var reason: Int64
  /// In thousandths of a percent; `nil` unless it is a refund.
  package var percentage: Int64?

  package init(at date: Timestamp, _ kind: Kind, reason: Int64 = 0, percentage: Int64? = nil) {
    self.date = date
    self.kind = kind
    self.reason = reason
    self.percentage = percentage
  }
}
