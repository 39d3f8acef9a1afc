import Testing
import Wire

/// Every field that Apple documents, structure by structure, in Apple's order (App Store Server API 1.21, Notifications 2.17).
@Suite struct `Every documented field is shown and in the schema` {
  @Test func `of notifications`() {
    check(ResponseBodyV2.self, text("signedPayload", \.signedPayload))
    check(
      NotificationPayload.self, text("notificationType", \.notificationType, "DID_RENEW"),
      text("subtype", \.subtype, "ACTIVE_TOKEN_REMINDER"), text("notificationUUID", \.notificationUUID),
      structure("data", \.data), text("version", \.version), date("signedDate", \.signedDate),
      structure("summary", \.summary), structure("externalPurchaseToken", \.externalPurchaseToken),
      structure("appData", \.appData))
    check(
      NotificationData.self, text("environment", \.environment, "Sandbox"), integer("appAppleId", \.appAppleId),
      text("bundleId", \.bundleId), text("bundleVersion", \.bundleVersion),
      text("signedTransactionInfo", \.signedTransactionInfo), text("signedRenewalInfo", \.signedRenewalInfo),
      integer("status", \.status, 5), text("consumptionRequestReason", \.consumptionRequestReason, "LEGAL"))
    check(
      NotificationSummary.self, text("environment", \.environment, "Production"), integer("appAppleId", \.appAppleId),
      text("bundleId", \.bundleId), text("productId", \.productId), text("requestIdentifier", \.requestIdentifier),
      texts("storefrontCountryCodes", \.storefrontCountryCodes), integer("succeededCount", \.succeededCount),
      integer("failedCount", \.failedCount))
    check(
      ExternalPurchaseToken.self, text("externalPurchaseId", \.externalPurchaseId),
      date("tokenCreationDate", \.tokenCreationDate), integer("appAppleId", \.appAppleId),
      text("bundleId", \.bundleId), text("tokenType", \.tokenType), date("tokenExpirationDate", \.tokenExpirationDate))
    check(
      AppData.self, integer("appAppleId", \.appAppleId), text("bundleId", \.bundleId),
      text("environment", \.environment, "Sandbox"), text("signedAppTransactionInfo", \.signedAppTransactionInfo))
  }

  @Test func `of transactions`() {
    check(
      TransactionPayload.self, text("originalTransactionId", \.originalTransactionId),
      text("transactionId", \.transactionId), text("webOrderLineItemId", \.webOrderLineItemId),
      text("bundleId", \.bundleId), text("productId", \.productId),
      text("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier), date("purchaseDate", \.purchaseDate),
      date("originalPurchaseDate", \.originalPurchaseDate), date("expiresDate", \.expiresDate),
      integer("quantity", \.quantity), text("type", \.type, "Non-Renewing Subscription"),
      text("appAccountToken", \.appAccountToken), text("inAppOwnershipType", \.inAppOwnershipType, "FAMILY_SHARED"),
      date("signedDate", \.signedDate), integer("revocationReason", \.revocationReason, 0),
      date("revocationDate", \.revocationDate), flag("isUpgraded", \.isUpgraded), integer("offerType", \.offerType, 4),
      text("offerIdentifier", \.offerIdentifier), text("environment", \.environment, "Xcode"),
      text("storefront", \.storefront), text("storefrontId", \.storefrontId),
      text("transactionReason", \.transactionReason, "RENEWAL"), text("currency", \.currency),
      integer("price", \.price),
      text("offerDiscountType", \.offerDiscountType, "ONE_TIME"), text("appTransactionId", \.appTransactionId),
      text("offerPeriod", \.offerPeriod), text("revocationType", \.revocationType, "FAMILY_REVOKE"),
      integer("revocationPercentage", \.revocationPercentage),
      structure("advancedCommerceInfo", \.advancedCommerceInfo),
      text("billingPlanType", \.billingPlanType, "MONTHLY"), structure("commitmentInfo", \.commitmentInfo),
      text("previousOriginalTransactionId", \.previousOriginalTransactionId))
    check(
      TransactionCommitmentInfo.self, integer("billingPeriodNumber", \.billingPeriodNumber),
      date("commitmentExpiresDate", \.commitmentExpiresDate), integer("commitmentPrice", \.commitmentPrice),
      integer("totalBillingPeriods", \.totalBillingPeriods))
  }

  @Test func `of renewals`() {
    check(
      RenewalPayload.self, integer("expirationIntent", \.expirationIntent, 5),
      text("originalTransactionId", \.originalTransactionId), text("autoRenewProductId", \.autoRenewProductId),
      text("productId", \.productId), integer("autoRenewStatus", \.autoRenewStatus, 1),
      flag("isInBillingRetryPeriod", \.isInBillingRetryPeriod),
      integer("priceIncreaseStatus", \.priceIncreaseStatus, 0),
      date("gracePeriodExpiresDate", \.gracePeriodExpiresDate), integer("offerType", \.offerType, 1),
      text("offerIdentifier", \.offerIdentifier), date("signedDate", \.signedDate),
      text("environment", \.environment, "LocalTesting"),
      date("recentSubscriptionStartDate", \.recentSubscriptionStartDate), date("renewalDate", \.renewalDate),
      text("currency", \.currency), integer("renewalPrice", \.renewalPrice),
      text("offerDiscountType", \.offerDiscountType, "FREE_TRIAL"),
      texts("eligibleWinBackOfferIds", \.eligibleWinBackOfferIds), text("appAccountToken", \.appAccountToken),
      text("appTransactionId", \.appTransactionId), text("offerPeriod", \.offerPeriod),
      structure("advancedCommerceInfo", \.advancedCommerceInfo), structure("commitmentInfo", \.commitmentInfo),
      text("renewalBillingPlanType", \.renewalBillingPlanType, "BILLED_UPFRONT"))
    check(
      RenewalCommitmentInfo.self, text("commitmentAutoRenewProductId", \.commitmentAutoRenewProductId),
      integer("commitmentAutoRenewStatus", \.commitmentAutoRenewStatus, 0),
      text("commitmentRenewalBillingPlanType", \.commitmentRenewalBillingPlanType, "MONTHLY"),
      date("commitmentRenewalDate", \.commitmentRenewalDate),
      integer("commitmentRenewalPrice", \.commitmentRenewalPrice))
  }

  @Test func `of app transactions and retention messages`() {
    check(
      AppTransactionPayload.self, text("receiptType", \.receiptType, "Production"), integer("appAppleId", \.appAppleId),
      text("bundleId", \.bundleId), text("applicationVersion", \.applicationVersion),
      integer("versionExternalIdentifier", \.versionExternalIdentifier),
      date("receiptCreationDate", \.receiptCreationDate), date("originalPurchaseDate", \.originalPurchaseDate),
      text("originalApplicationVersion", \.originalApplicationVersion),
      text("deviceVerification", \.deviceVerification),
      text("deviceVerificationNonce", \.deviceVerificationNonce), date("preorderDate", \.preorderDate),
      text("appTransactionId", \.appTransactionId), text("originalPlatform", \.originalPlatform, "visionOS"))
    check(RealtimeRequestBody.self, text("signedPayload", \.signedPayload))
    check(
      DecodedRealtimeRequestBody.self, text("originalTransactionId", \.originalTransactionId),
      integer("appAppleId", \.appAppleId), text("productId", \.productId), text("userLocale", \.userLocale),
      text("requestIdentifier", \.requestIdentifier), date("signedDate", \.signedDate),
      text("environment", \.environment, "Production"))
  }

  @Test func `of the answers of the App Store Server API`() {
    check(
      StatusResponse.self, text("environment", \.environment, "Sandbox"), text("bundleId", \.bundleId),
      integer("appAppleId", \.appAppleId), structures("data", \.data))
    check(
      SubscriptionGroupItem.self, text("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
      structures("lastTransactions", \.lastTransactions))
    check(
      LastTransactionsItem.self, integer("status", \.status, 1), text("originalTransactionId", \.originalTransactionId),
      text("signedTransactionInfo", \.signedTransactionInfo), text("signedRenewalInfo", \.signedRenewalInfo))
    check(
      HistoryResponse.self, text("revision", \.revision), flag("hasMore", \.hasMore), text("bundleId", \.bundleId),
      integer("appAppleId", \.appAppleId), text("environment", \.environment, "Production"),
      texts("signedTransactions", \.signedTransactions))
    check(
      RefundHistoryResponse.self, texts("signedTransactions", \.signedTransactions), text("revision", \.revision),
      flag("hasMore", \.hasMore))
    check(
      OrderLookupResponse.self, integer("status", \.status, 1), texts("signedTransactions", \.signedTransactions))
    check(TransactionInfoResponse.self, text("signedTransactionInfo", \.signedTransactionInfo))
    check(AppTransactionInfoResponse.self, text("signedAppTransactionInfo", \.signedAppTransactionInfo))
  }

  @Test func `of Advanced Commerce`() {
    check(
      AdvancedCommerceTransactionInfo.self, structure("descriptors", \.descriptors),
      integer("estimatedTax", \.estimatedTax), structures("items", \.items), text("period", \.period, "P1M"),
      text("requestReferenceId", \.requestReferenceId), text("taxCode", \.taxCode),
      integer("taxExclusivePrice", \.taxExclusivePrice), text("taxRate", \.taxRate))
    check(
      AdvancedCommerceTransactionItem.self, text("SKU", \.SKU), text("description", \.description),
      text("displayName", \.displayName), structure("offer", \.offer), integer("price", \.price),
      structures("refunds", \.refunds), date("revocationDate", \.revocationDate))
    check(
      AdvancedCommerceRenewalInfo.self, text("consistencyToken", \.consistencyToken),
      structure("descriptors", \.descriptors), structures("items", \.items), text("period", \.period, "P1Y"),
      text("requestReferenceId", \.requestReferenceId), text("taxCode", \.taxCode))
    check(
      AdvancedCommerceRenewalItem.self, text("SKU", \.SKU), text("description", \.description),
      text("displayName", \.displayName), structure("offer", \.offer), integer("price", \.price),
      structure("priceIncreaseInfo", \.priceIncreaseInfo))
    check(AdvancedCommerceDescriptors.self, text("description", \.description), text("displayName", \.displayName))
    check(
      AdvancedCommerceOffer.self, text("period", \.period, "P3D"), integer("periodCount", \.periodCount),
      integer("price", \.price), text("reason", \.reason, "WIN_BACK"))
    check(
      AdvancedCommercePriceIncreaseInfo.self, texts("dependentSKUs", \.dependentSKUs), integer("price", \.price),
      text("status", \.status, "SCHEDULED"))
    check(
      AdvancedCommerceRefund.self, integer("refundAmount", \.refundAmount), date("refundDate", \.refundDate),
      text("refundReason", \.refundReason, "SIMULATE_REFUND_DECLINE"), text("refundType", \.refundType, "PRORATED"))
  }
}
