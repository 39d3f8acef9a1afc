public import JSON
public import Time

/// One purchase as V1 tells it: a row of `in_app` or `latest_receipt_info`, or the flat object of an iOS 6 receipt.
///
/// Every value is text in the rows of app receipts; iOS 6 objects keep milliseconds in `expires_date`.
/// Apple: appstorereceipts/responsebody/latest_receipt_info; iOS 6 keys as seen in answers of 2012 to 2017.
public struct V1TransactionRow: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var transactionID: String? { looseText("transaction_id") }
  public var originalTransactionID: String? { looseText("original_transaction_id") }
  public var webOrderLineItemID: String? { looseText("web_order_line_item_id") }
  public var productID: String? { looseText("product_id") }
  public var subscriptionGroupIdentifier: String? { looseText("subscription_group_identifier") }
  public var quantity: Int64? { looseInteger("quantity") }
  public var purchaseDate: Timestamp? { looseDate("purchase_date") }
  public var originalPurchaseDate: Timestamp? { looseDate("original_purchase_date") }
  public var expiresDate: Timestamp? { looseDate("expires_date") }
  /// Taken back; with `isUpgraded` when an upgrade replaced it.
  public var cancellationDate: Timestamp? { looseDate("cancellation_date") }
  public var cancellationReason: Int64? { looseInteger("cancellation_reason") }
  public var isTrialPeriod: Bool? { looseFlag("is_trial_period") }
  public var isInIntroOfferPeriod: Bool? { looseFlag("is_in_intro_offer_period") }
  public var isUpgraded: Bool? { looseFlag("is_upgraded") }
  public var inAppOwnershipType: String? { looseText("in_app_ownership_type") }
  public var promotionalOfferID: String? { looseText("promotional_offer_id") }
  public var offerCodeRefName: String? { looseText("offer_code_ref_name") }
  public var appAccountToken: String? { looseText("app_account_token") }
  /// The app, in iOS 6 objects.
  public var bundleID: String? { looseText("bid") }

  public static let schema = Schema(
    [
      "transaction_id": .loose(.text), "original_transaction_id": .loose(.text),
      "web_order_line_item_id": .loose(.text), "product_id": .loose(.text),
      "subscription_group_identifier": .loose(.text), "quantity": .loose(.integer),
      "cancellation_reason": .loose(.code(0...1)), "is_trial_period": .loose(.flag),
      "is_in_intro_offer_period": .loose(.flag), "is_upgraded": .loose(.flag),
      "in_app_ownership_type": .loose(.word(DocumentedValues.inAppOwnershipType)),
      "promotional_offer_id": .loose(.text),
      "offer_code_ref_name": .loose(.text), "app_account_token": .loose(.text),
    ],
    Schema.dates("purchase_date", "original_purchase_date", "expires_date", "cancellation_date"),
    [
      "expires_date_formatted": .loose(.date), "expires_date_formatted_pst": .loose(.date), "bid": .loose(.text),
      "bvrs": .loose(.text), "item_id": .loose(.text), "app_item_id": .loose(.text),
      "version_external_identifier": .loose(.text), "unique_identifier": .loose(.text),
      "unique_vendor_identifier": .loose(.text),
    ])
}

/// What Apple intends to do next with one subscription: an element of `pending_renewal_info`.
///
/// Apple: appstorereceipts/responsebody/pending_renewal_info.
public struct PendingRenewalInfo: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  /// Absent before 2018: then the product alone tells which subscription it is.
  public var originalTransactionID: String? { looseText("original_transaction_id") }
  public var productID: String? { looseText("product_id") }
  public var autoRenewProductID: String? { looseText("auto_renew_product_id") }
  public var autoRenewStatus: Bool? { looseFlag("auto_renew_status") }
  public var expirationIntent: Int64? { looseInteger("expiration_intent") }
  public var isInBillingRetryPeriod: Bool? { looseFlag("is_in_billing_retry_period") }
  public var gracePeriodExpiresDate: Timestamp? { looseDate("grace_period_expires_date") }
  public var priceConsentStatus: Int64? { looseInteger("price_consent_status") }
  public var priceIncreaseStatus: Int64? { looseInteger("price_increase_status") }
  public var promotionalOfferID: String? { looseText("promotional_offer_id") }
  public var offerCodeRefName: String? { looseText("offer_code_ref_name") }

  public static let schema = Schema(
    [
      "original_transaction_id": .loose(.text), "product_id": .loose(.text), "auto_renew_product_id": .loose(.text),
      "auto_renew_status": .loose(.flag), "expiration_intent": .loose(.code(1...5)),
      "is_in_billing_retry_period": .loose(.flag), "price_consent_status": .loose(.code(0...1)),
      "price_increase_status": .loose(.code(0...1)), "promotional_offer_id": .loose(.text),
      "offer_code_ref_name": .loose(.text),
    ], Schema.dates("grace_period_expires_date"))
}
