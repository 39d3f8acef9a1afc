/// The documented values of Apple's enumerations; others are kept and counted.
///
/// App Store Server API 1.21, App Store Server Notifications 2.17.
enum DocumentedValues {
  static let appStoreEnvironment: Set<String> = [
    "Sandbox", "Production", "Xcode", "LocalTesting",
  ]
  static let billingPlanType: Set<String> = [
    "BILLED_UPFRONT", "MONTHLY",
  ]
  static let consumptionRequestReason: Set<String> = [
    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
  ]
  static let inAppOwnershipType: Set<String> = [
    "FAMILY_SHARED", "PURCHASED",
  ]
  static let notificationTypeV2: Set<String> = [
    "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW", "EXPIRED",
    "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "REFUND", "REFUND_DECLINED",
    "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "REVOKE", "TEST", "RENEWAL_EXTENSION", "REFUND_REVERSED",
    "EXTERNAL_PURCHASE_TOKEN", "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "PRICE_CHANGE",
  ]
  static let offerDiscountType: Set<String> = [
    "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME",
  ]
  static let productType: Set<String> = [
    "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription",
  ]
  static let purchasePlatform: Set<String> = [
    "iOS", "macOS", "tvOS", "visionOS",
  ]
  static let renewalBillingPlanType: Set<String> = [
    "BILLED_UPFRONT", "MONTHLY",
  ]
  static let revocationType: Set<String> = [
    "REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE",
  ]
  static let subtype: Set<String> = [
    "INITIAL_BUY", "RESUBSCRIBE", "DOWNGRADE", "UPGRADE", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED", "VOLUNTARY",
    "BILLING_RETRY", "PRICE_INCREASE", "GRACE_PERIOD", "PENDING", "ACCEPTED", "BILLING_RECOVERY",
    "PRODUCT_NOT_FOR_SALE", "SUMMARY", "FAILURE", "UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER",
  ]
  static let transactionReason: Set<String> = [
    "PURCHASE", "RENEWAL",
  ]
  static let deliveryStatus: Set<String> = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
    "UNDELIVERED_OTHER",
  ]
  static let refundPreference: Set<String> = [
    "DECLINE", "GRANT_FULL", "GRANT_PRORATED",
  ]
  static let sendAttemptResult: Set<String> = [
    "SUCCESS", "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE", "UNSUPPORTED_CHARSET",
    "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "OTHER",
  ]
}
