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
      opaque("advancedCommerceInfo", \.advancedCommerceInfo),
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
      opaque("advancedCommerceInfo", \.advancedCommerceInfo), structure("commitmentInfo", \.commitmentInfo),
      text("renewalBillingPlanType", \.renewalBillingPlanType, "BILLED_UPFRONT"))
    check(
      RenewalCommitmentInfo.self, text("commitmentAutoRenewProductId", \.commitmentAutoRenewProductId),
      integer("commitmentAutoRenewStatus", \.commitmentAutoRenewStatus, 0),
      text("commitmentRenewalBillingPlanType", \.commitmentRenewalBillingPlanType, "MONTHLY"),
      date("commitmentRenewalDate", \.commitmentRenewalDate),
      integer("commitmentRenewalPrice", \.commitmentRenewalPrice))
  }

  @Test func `of app transactions`() {
    check(
      AppTransactionPayload.self, text("receiptType", \.receiptType, "Production"), integer("appAppleId", \.appAppleId),
      text("bundleId", \.bundleId), text("applicationVersion", \.applicationVersion),
      integer("versionExternalIdentifier", \.versionExternalIdentifier),
      date("receiptCreationDate", \.receiptCreationDate), date("originalPurchaseDate", \.originalPurchaseDate),
      text("originalApplicationVersion", \.originalApplicationVersion),
      text("deviceVerification", \.deviceVerification),
      text("deviceVerificationNonce", \.deviceVerificationNonce), date("preorderDate", \.preorderDate),
      text("appTransactionId", \.appTransactionId), text("originalPlatform", \.originalPlatform, "visionOS"))
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

  @Test func `of extended renewal dates and consumption`() {
    check(
      ExtendRenewalDateRequest.self, integer("extendByDays", \.extendByDays),
      integer("extendReasonCode", \.extendReasonCode, 3), text("requestIdentifier", \.requestIdentifier))
    check(
      ExtendRenewalDateResponse.self, text("originalTransactionId", \.originalTransactionId),
      text("webOrderLineItemId", \.webOrderLineItemId), flag("success", \.success),
      date("effectiveDate", \.effectiveDate))
    check(
      MassExtendRenewalDateRequest.self, integer("extendByDays", \.extendByDays),
      integer("extendReasonCode", \.extendReasonCode, 0), text("requestIdentifier", \.requestIdentifier),
      texts("storefrontCountryCodes", \.storefrontCountryCodes), text("productId", \.productId))
    check(MassExtendRenewalDateResponse.self, text("requestIdentifier", \.requestIdentifier))
    check(
      MassExtendRenewalDateStatusResponse.self, text("requestIdentifier", \.requestIdentifier),
      flag("complete", \.complete), date("completeDate", \.completeDate), integer("succeededCount", \.succeededCount),
      integer("failedCount", \.failedCount))
    check(
      ConsumptionRequest.self, flag("customerConsented", \.customerConsented),
      integer("consumptionPercentage", \.consumptionPercentage),
      text("deliveryStatus", \.deliveryStatus, "DELIVERED"), text("refundPreference", \.refundPreference, "DECLINE"),
      flag("sampleContentProvided", \.sampleContentProvided))
    check(
      ConsumptionRequestV1.self, flag("customerConsented", \.customerConsented),
      integer("consumptionStatus", \.consumptionStatus, 3), integer("platform", \.platform, 2),
      flag("sampleContentProvided", \.sampleContentProvided), integer("deliveryStatus", \.deliveryStatus, 5),
      text("appAccountToken", \.appAccountToken), integer("accountTenure", \.accountTenure, 7),
      integer("playTime", \.playTime, 7), integer("lifetimeDollarsRefunded", \.lifetimeDollarsRefunded, 7),
      integer("lifetimeDollarsPurchased", \.lifetimeDollarsPurchased, 0), integer("userStatus", \.userStatus, 4),
      integer("refundPreference", \.refundPreference, 3))
    check(UpdateAppAccountTokenRequest.self, text("appAccountToken", \.appAccountToken))
    check(
      ErrorPayload.self, integer("errorCode", \.errorCode), text("errorMessage", \.errorMessage))
  }

  @Test func `of the notification history`() {
    check(
      NotificationHistoryRequest.self, date("startDate", \.startDate), date("endDate", \.endDate),
      text("notificationType", \.notificationType, "REFUND"),
      text("notificationSubtype", \.notificationSubtype, "VOLUNTARY"), text("transactionId", \.transactionId),
      flag("onlyFailures", \.onlyFailures))
    check(
      NotificationHistoryResponse.self, text("paginationToken", \.paginationToken), flag("hasMore", \.hasMore),
      structures("notificationHistory", \.notificationHistory))
    check(
      NotificationHistoryResponseItem.self, text("signedPayload", \.signedPayload),
      structures("sendAttempts", \.sendAttempts))
    check(
      SendAttemptItem.self, date("attemptDate", \.attemptDate),
      text("sendAttemptResult", \.sendAttemptResult, "TLS_ISSUE"))
    check(SendTestNotificationResponse.self, text("testNotificationToken", \.testNotificationToken))
    check(
      CheckTestNotificationResponse.self, text("signedPayload", \.signedPayload),
      structures("sendAttempts", \.sendAttempts))
  }

  @Test func `as a request says what it was given and nothing else`() {
    #expect(
      ConsumptionRequest(customerConsented: true, deliveryStatus: "DELIVERED", sampleContentProvided: false).json
        == ["customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false])
    let request = NotificationHistoryRequest(
      startDate: Timestamp(1), endDate: Timestamp(2), onlyFailures: true)
    #expect(request.json == ["startDate": 1, "endDate": 2, "onlyFailures": true])
  }
}
