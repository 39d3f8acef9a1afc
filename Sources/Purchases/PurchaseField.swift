/// The fields of a purchase.
///
/// Apple: JWSTransactionDecodedPayload.
public enum PurchaseField: Int, FactField {
  case transactionId, originalTransactionId, webOrderLineItemId, productId, subscriptionGroupIdentifier, purchaseDate,
    originalPurchaseDate, expiresDate, quantity, type, appAccountToken, inAppOwnershipType, revocationReason,
    revocationDate, revocationType, revocationPercentage, isUpgraded, offerType, offerIdentifier, offerDiscountType,
    offerPeriod, storefront, storefrontId, transactionReason, currency, price, appTransactionId,
    previousOriginalTransactionId, billingPlanType, advancedCommerceInfo, commitmentInfo

  public var kind: FactKind {
    switch self {
    case .transactionId, .originalTransactionId, .webOrderLineItemId, .productId, .subscriptionGroupIdentifier, .type,
      .appAccountToken, .inAppOwnershipType, .revocationType, .offerIdentifier, .offerDiscountType, .offerPeriod,
      .storefront, .storefrontId, .transactionReason, .currency, .appTransactionId, .previousOriginalTransactionId,
      .billingPlanType:
      .text
    case .quantity, .revocationReason, .revocationPercentage, .offerType, .price: .integer
    case .isUpgraded: .flag
    case .purchaseDate, .originalPurchaseDate, .expiresDate, .revocationDate: .date
    case .advancedCommerceInfo, .commitmentInfo: .structure
    }
  }

  public static let names = FieldNames(allCases.map { "\($0)" })

  /// V1 rows omit cancellation dates arbitrarily: the notification after a CANCEL may lack its date.
  public static var marks: [Self] { [.revocationDate, .isUpgraded] }
}
