public import JSON
public import Time

/// One purchase, as signedTransactionInfo decodes.
///
/// Payloads of 2021 have neither environment nor price. Apple: appstoreserverapi/jwstransactiondecodedpayload.
public struct TransactionPayload: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var originalTransactionId: String? { text("originalTransactionId") }
  public var transactionId: String? { text("transactionId") }
  public var webOrderLineItemId: String? { text("webOrderLineItemId") }
  public var bundleId: String? { text("bundleId") }
  public var productId: String? { text("productId") }
  public var subscriptionGroupIdentifier: String? { text("subscriptionGroupIdentifier") }
  public var purchaseDate: Timestamp? { date("purchaseDate") }
  public var originalPurchaseDate: Timestamp? { date("originalPurchaseDate") }
  public var expiresDate: Timestamp? { date("expiresDate") }
  public var quantity: Int64? { integer("quantity") }
  public var type: String? { text("type") }
  public var appAccountToken: String? { text("appAccountToken") }
  public var inAppOwnershipType: String? { text("inAppOwnershipType") }
  public var signedDate: Timestamp? { date("signedDate") }
  public var revocationReason: Int64? { integer("revocationReason") }
  public var revocationDate: Timestamp? { date("revocationDate") }
  public var isUpgraded: Bool? { flag("isUpgraded") }
  public var offerType: Int64? { integer("offerType") }
  public var offerIdentifier: String? { text("offerIdentifier") }
  public var environment: String? { text("environment") }
  /// ISO 3166-1 alpha-3.
  public var storefront: String? { text("storefront") }
  public var storefrontId: String? { text("storefrontId") }
  public var transactionReason: String? { text("transactionReason") }
  public var currency: String? { text("currency") }
  /// In thousandths of the unit.
  public var price: Int64? { integer("price") }
  public var offerDiscountType: String? { text("offerDiscountType") }
  public var appTransactionId: String? { text("appTransactionId") }
  public var offerPeriod: String? { text("offerPeriod") }
  public var revocationType: String? { text("revocationType") }
  /// In thousandths of a per cent.
  public var revocationPercentage: Int64? { integer("revocationPercentage") }
  public var billingPlanType: String? { text("billingPlanType") }
  /// Of Advanced Commerce, which is not read here.
  public var advancedCommerceInfo: JSONObject? { json["advancedCommerceInfo"]?.object }
  public var commitmentInfo: TransactionCommitmentInfo? { structure("commitmentInfo") }
  public var previousOriginalTransactionId: String? { text("previousOriginalTransactionId") }

  public static let schema = Schema([
    "originalTransactionId": .text,
    "transactionId": .text,
    "webOrderLineItemId": .text,
    "bundleId": .text,
    "productId": .text,
    "subscriptionGroupIdentifier": .text,
    "purchaseDate": .date,
    "originalPurchaseDate": .date,
    "expiresDate": .date,
    "quantity": .integer,
    "type": .word(DocumentedValues.productType),
    "appAccountToken": .text,
    "inAppOwnershipType": .word(DocumentedValues.inAppOwnershipType),
    "signedDate": .date,
    "revocationReason": .code(0...1),
    "revocationDate": .date,
    "isUpgraded": .flag,
    "offerType": .code(1...4),
    "offerIdentifier": .text,
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "storefront": .text,
    "storefrontId": .text,
    "transactionReason": .word(DocumentedValues.transactionReason),
    "currency": .text,
    "price": .integer,
    "offerDiscountType": .word(DocumentedValues.offerDiscountType),
    "appTransactionId": .text,
    "offerPeriod": .text,
    "revocationType": .word(DocumentedValues.revocationType),
    "revocationPercentage": .integer,
    "advancedCommerceInfo": .opaque,
    "billingPlanType": .word(DocumentedValues.billingPlanType),
    "commitmentInfo": .structure(TransactionCommitmentInfo.schema),
    "previousOriginalTransactionId": .text,
  ])
}

/// Which payment this is of a yearly commitment paid by the month.
///
/// Apple: TransactionCommitmentInfo.
public struct TransactionCommitmentInfo: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var billingPeriodNumber: Int64? { integer("billingPeriodNumber") }
  public var commitmentExpiresDate: Timestamp? { date("commitmentExpiresDate") }
  public var commitmentPrice: Int64? { integer("commitmentPrice") }
  public var totalBillingPeriods: Int64? { integer("totalBillingPeriods") }

  public static let schema = Schema([
    "billingPeriodNumber": .integer,
    "commitmentExpiresDate": .date,
    "commitmentPrice": .integer,
    "totalBillingPeriods": .integer,
  ])
}
