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

  @Test func `of retention messages`() {
    check(
      UploadMessageRequestBody.self, text("header", \.header), text("body", \.body), structure("image", \.image),
      text("headerPosition", \.headerPosition, "ABOVE_IMAGE"), structures("bulletPoints", \.bulletPoints))
    check(
      UploadMessageImage.self, text("imageIdentifier", \.imageIdentifier), text("altText", \.altText))
    check(
      BulletPoint.self, text("text", \.text), text("imageIdentifier", \.imageIdentifier), text("altText", \.altText))
    check(GetImageListResponse.self, structures("imageIdentifiers", \.imageIdentifiers))
    check(
      GetImageListResponseItem.self, text("imageIdentifier", \.imageIdentifier),
      text("imageState", \.imageState, "PENDING_REVIEW"), text("imageSize", \.imageSize, "BULLET_POINT"))
    check(GetMessageListResponse.self, structures("messageIdentifiers", \.messageIdentifiers))
    check(
      GetMessageListResponseItem.self, text("messageIdentifier", \.messageIdentifier),
      text("messageState", \.messageState, "REJECTED"))
    check(DefaultConfigurationRequest.self, text("messageIdentifier", \.messageIdentifier))
    check(DefaultConfigurationResponse.self, text("messageIdentifier", \.messageIdentifier))
    check(RealtimeUrlRequest.self, text("realtimeURL", \.realtimeURL))
    check(RealtimeUrlResponse.self, text("realtimeURL", \.realtimeURL))
    check(PerformanceTestRequest.self, text("originalTransactionId", \.originalTransactionId))
    check(PerformanceTestResponse.self, structure("config", \.config), text("requestId", \.requestId))
    check(
      PerformanceTestConfig.self, integer("maxConcurrentRequests", \.maxConcurrentRequests),
      integer("totalRequests", \.totalRequests), integer("totalDuration", \.totalDuration),
      integer("responseTimeThreshold", \.responseTimeThreshold),
      integer("successRateThreshold", \.successRateThreshold))
    check(
      PerformanceTestResultResponse.self, structure("config", \.config), text("target", \.target),
      text("result", \.result, "PASS"), integer("successRate", \.successRate), integer("numPending", \.numPending),
      structure("responseTimes", \.responseTimes), structure("failures", \.failures))
    check(
      PerformanceTestResponseTimes.self, integer("average", \.average), integer("p50", \.p50), integer("p90", \.p90),
      integer("p95", \.p95), integer("p99", \.p99))
    let failures = PerformanceTestFailures(["TIMED_OUT": 3, "NEW": 1])
    #expect(failures["TIMED_OUT"] == 3)
    #expect(failures.survey().unknownFields == ["NEW"])
  }

  @Test func `as a request says what it was given and nothing else`() {
    #expect(
      ConsumptionRequest(customerConsented: true, deliveryStatus: "DELIVERED", sampleContentProvided: false).json
        == ["customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false])
    let message = UploadMessageRequestBody(
      header: "h", body: "b", image: UploadMessageImage(imageIdentifier: "i", altText: "a"),
      bulletPoints: [BulletPoint(text: "t", imageIdentifier: "j", altText: "c")])
    #expect(message.survey().isClean)
    #expect(message.image?.altText == "a")
    #expect(message.bulletPoints?.first?.text == "t")
    let request = NotificationHistoryRequest(
      startDate: Milliseconds(1), endDate: Milliseconds(2), onlyFailures: true)
    #expect(request.json == ["startDate": 1, "endDate": 2, "onlyFailures": true])
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
