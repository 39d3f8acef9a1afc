public import JSON
public import Time

/// What happens next to a subscription, as signedRenewalInfo decodes.
///
/// Apple: appstoreserverapi/jwsrenewalinfodecodedpayload.
public struct RenewalPayload: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var expirationIntent: Int64? { integer("expirationIntent") }
  public var originalTransactionId: String? { text("originalTransactionId") }
  public var autoRenewProductId: String? { text("autoRenewProductId") }
  public var productId: String? { text("productId") }
  public var autoRenewStatus: Int64? { integer("autoRenewStatus") }
  public var isInBillingRetryPeriod: Bool? { flag("isInBillingRetryPeriod") }
  public var priceIncreaseStatus: Int64? { integer("priceIncreaseStatus") }
  public var gracePeriodExpiresDate: Timestamp? { date("gracePeriodExpiresDate") }
  public var offerType: Int64? { integer("offerType") }
  public var offerIdentifier: String? { text("offerIdentifier") }
  public var signedDate: Timestamp? { date("signedDate") }
  public var environment: String? { text("environment") }
  public var recentSubscriptionStartDate: Timestamp? { date("recentSubscriptionStartDate") }
  public var renewalDate: Timestamp? { date("renewalDate") }
  public var currency: String? { text("currency") }
  /// In thousandths of the unit.
  public var renewalPrice: Int64? { integer("renewalPrice") }
  public var offerDiscountType: String? { text("offerDiscountType") }
  public var eligibleWinBackOfferIds: [String]? { texts("eligibleWinBackOfferIds") }
  public var appAccountToken: String? { text("appAccountToken") }
  public var appTransactionId: String? { text("appTransactionId") }
  public var offerPeriod: String? { text("offerPeriod") }
  /// Of Advanced Commerce, which is not read here.
  public var advancedCommerceInfo: JSONObject? { json["advancedCommerceInfo"]?.object }
  public var commitmentInfo: RenewalCommitmentInfo? { structure("commitmentInfo") }
  public var renewalBillingPlanType: String? { text("renewalBillingPlanType") }

  public static let schema = Schema([
    "expirationIntent": .code(1...5),
    "originalTransactionId": .text,
    "autoRenewProductId": .text,
    "productId": .text,
    "autoRenewStatus": .code(0...1),
    "isInBillingRetryPeriod": .flag,
    "priceIncreaseStatus": .code(0...1),
    "gracePeriodExpiresDate": .date,
    "offerType": .code(1...4),
    "offerIdentifier": .text,
    "signedDate": .date,
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "recentSubscriptionStartDate": .date,
    "renewalDate": .date,
    "currency": .text,
    "renewalPrice": .integer,
    "offerDiscountType": .word(DocumentedValues.offerDiscountType),
    "eligibleWinBackOfferIds": .texts,
    "appAccountToken": .text,
    "appTransactionId": .text,
    "offerPeriod": .text,
    "advancedCommerceInfo": .opaque,
    "commitmentInfo": .structure(RenewalCommitmentInfo.schema),
    "renewalBillingPlanType": .word(DocumentedValues.renewalBillingPlanType),
  ])
}

/// What follows a yearly commitment paid by the month.
///
/// Apple: RenewalCommitmentInfo.
public struct RenewalCommitmentInfo: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var commitmentAutoRenewProductId: String? { text("commitmentAutoRenewProductId") }
  public var commitmentAutoRenewStatus: Int64? { integer("commitmentAutoRenewStatus") }
  public var commitmentRenewalBillingPlanType: String? { text("commitmentRenewalBillingPlanType") }
  public var commitmentRenewalDate: Timestamp? { date("commitmentRenewalDate") }
  public var commitmentRenewalPrice: Int64? { integer("commitmentRenewalPrice") }

  public static let schema = Schema([
    "commitmentAutoRenewProductId": .text,
    "commitmentAutoRenewStatus": .code(0...1),
    "commitmentRenewalBillingPlanType": .word(DocumentedValues.renewalBillingPlanType),
    "commitmentRenewalDate": .date,
    "commitmentRenewalPrice": .integer,
  ])
}
