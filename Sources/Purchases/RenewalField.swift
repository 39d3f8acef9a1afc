/// The fields of a subscription's renewal.
///
/// Apple: JWSRenewalInfoDecodedPayload.
public enum RenewalField: Int, FactField {
  case originalTransactionId, productId, autoRenewProductId, autoRenewStatus, renewalDate, expirationIntent,
    isInBillingRetryPeriod, gracePeriodExpiresDate, priceIncreaseStatus, renewalPrice, currency, offerType,
    offerIdentifier, offerDiscountType, offerPeriod, recentSubscriptionStartDate, eligibleWinBackOfferIds,
    appAccountToken, appTransactionId, renewalBillingPlanType, advancedCommerceInfo, commitmentInfo

  public var kind: FactKind {
    switch self {
    case .originalTransactionId, .productId, .autoRenewProductId, .currency, .offerIdentifier, .offerDiscountType,
      .offerPeriod, .appAccountToken, .appTransactionId, .renewalBillingPlanType:
      .text
    case .autoRenewStatus, .expirationIntent, .priceIncreaseStatus, .renewalPrice, .offerType: .integer
    case .isInBillingRetryPeriod: .flag
    case .renewalDate, .gracePeriodExpiresDate, .recentSubscriptionStartDate: .date
    case .eligibleWinBackOfferIds, .advancedCommerceInfo, .commitmentInfo: .structure
    }
  }

  public static let names = FieldNames(allCases.map { "\($0)" })
}
