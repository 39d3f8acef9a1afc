package import JSON
package import Signing
package import Time

/// Apple's next action on a subscription; tests change parts to make wrong ones.
///
/// Apple: JWSRenewalInfoDecodedPayload (App Store Server API 1.21).
package struct SimulatedRenewal: Hashable, Sendable {
  /// The raw value is the payload's `expirationIntent`.
  package enum ExpirationIntent: Int64, Hashable, Sendable, CaseIterable {
    case cancelled = 1
    case billingError = 2
    case priceIncreaseRefused = 3
    case productNotAvailable = 4
    case other = 5
  }

  package var originalTransactionID: String
  package var product: Product
  package var nextProduct: Product
  package var willRenew = true
  /// In thousandths of a US dollar; `nil` means the next product's price.
  package var price: Int64?
  package var expirationIntent: ExpirationIntent?
  package var isInBillingRetryPeriod: Bool?
  package var gracePeriodExpiresDate: Timestamp?
  /// 0: asked, no response.
  ///
  /// 1: agreed, or notified without a question.
  package var priceIncreaseStatus: Int64?
  package var offer: Offer?
  package var recentSubscriptionStartDate: Timestamp
  package var renewalDate: Timestamp?
  package var commitment: Commitment?
  /// Whether another commitment follows; within one, `willRenew` means another payment.
  package var renewsCommitment = true
  package var appAccountToken: String?
  package var appTransactionID: String
  package var environment: AppStoreEnvironment
  package var storefront: Storefront

  /// Creates the renewal of a subscription that `transaction` just began.
  package init(after transaction: SimulatedTransaction) {
    originalTransactionID = transaction.originalTransactionID
    product = transaction.product
    nextProduct = transaction.product
    recentSubscriptionStartDate = transaction.purchaseDate
    renewalDate = transaction.expiresDate
    commitment = transaction.commitment
    appAccountToken = transaction.appAccountToken
    appTransactionID = transaction.appTransactionID
    environment = transaction.environment
    storefront = transaction.storefront
  }

  /// Returns the payload signed at `date`, in Apple's order of members; without a date the unsigned content.
  package func payload(signedAt date: Timestamp?) -> JSONObject {
    var payload = PayloadMembers()
    payload.add("expirationIntent", expirationIntent?.rawValue)
    payload.add("originalTransactionId", originalTransactionID)
    payload.add("autoRenewProductId", nextProduct.id)
    payload.add("productId", product.id)
    payload.add("autoRenewStatus", willRenew ? 1 : 0 as Int64)
    payload.add("isInBillingRetryPeriod", isInBillingRetryPeriod)
    payload.add("priceIncreaseStatus", priceIncreaseStatus)
    payload.add("gracePeriodExpiresDate", gracePeriodExpiresDate)
    payload.add("offerType", offer?.kind.rawValue)
    payload.add("offerIdentifier", offer?.identifier)
    payload.add("renewalPrice", storefront.price(price ?? offer?.price ?? nextProduct.price))
    payload.add("currency", storefront.currency)
    payload.add("signedDate", date)
    payload.add("environment", environment.rawValue)
    payload.add("recentSubscriptionStartDate", recentSubscriptionStartDate)
    payload.add("renewalDate", renewalDate)
    payload.add("offerDiscountType", offer?.discount.rawValue)
    payload.add("appAccountToken", appAccountToken)
    payload.add("appTransactionId", appTransactionID)
    payload.add("offerPeriod", offer?.period.iso8601)
    if let commitment {
      var info = PayloadMembers()
      info.add("commitmentAutoRenewProductId", nextProduct.id)
      info.add("commitmentAutoRenewStatus", renewsCommitment ? 1 : 0 as Int64)
      info.add("commitmentRenewalBillingPlanType", "MONTHLY")
      info.add("commitmentRenewalDate", commitment.expiresDate)
      info.add("commitmentRenewalPrice", storefront.price((price ?? nextProduct.price) * Int64(commitment.periods)))
      payload.add("commitmentInfo", .object(info.object))
      payload.add("renewalBillingPlanType", "MONTHLY")
    }
    return payload.object
  }
}
