@Suite struct `The old generation` {
  private static let instant = Timestamp(1_606_293_062_000)

  @Test(
    arguments: [
      ("2020-11-25 08:31:02 Etc/GMT", 1_606_293_062), ("2020-11-25 00:31:02 America/Los_Angeles", 1_606_293_062),
      // Summer time of 2021: from the second Sunday of March to the first of November, at two.
      ("2021-03-14 01:59:59 America/Los_Angeles", 1_615_715_999),
      ("2021-03-14 03:00:00 America/Los_Angeles", 1_615_716_000),
      ("2021-11-07 00:59:59 America/Los_Angeles", 1_636_271_999),
      ("2021-11-07 01:30:00 America/Los_Angeles", nil), ("2021-11-07 02:00:00 America/Los_Angeles", 1_636_279_200),
      ("1969-12-31 23:59:59 Etc/GMT", -1), ("2020-02-29 00:00:00 Etc/GMT", 1_582_934_400),
      ("2021-02-29 00:00:00 Etc/GMT", nil), ("2020-13-01 00:00:00 Etc/GMT", nil), ("2020-11-25 24:00:00 Etc/GMT", nil),
      ("2020-11-25 08:31:02", nil), ("2020-11-25 08:31:02 Europe/Berlin", nil), ("2020-11-25T08:31:02 Etc/GMT", nil),
      ("2020-11-2x 08:31:02 Etc/GMT", nil), ("", nil),
    ] as [(String, Int64?)])
  func `writes dates for people`(text: String, seconds: Int64?) {
    #expect(V1Date.read(text) == seconds.map { Timestamp($0 * 1_000) })
  }

  @Test func `writes a date three times, of which the milliseconds count, then Greenwich, then Apple's own`() {
    let row: JSONObject = [
      "purchase_date": "2020-11-25 08:31:03 Etc/GMT", "purchase_date_ms": "1606293062001",
      "purchase_date_pst": "2020-11-25 00:31:02 America/Los_Angeles",
    ]
    var left = row
    #expect(V1TransactionRow(left).purchaseDate == Self.instant + .milliseconds(1))
    left["purchase_date_ms"] = nil
    #expect(V1TransactionRow(left).purchaseDate == Self.instant + .seconds(1))
    left["purchase_date"] = nil
    #expect(V1TransactionRow(left).purchaseDate == Self.instant)
    left["purchase_date_pst"] = "yesterday"
    #expect(V1TransactionRow(left).purchaseDate == nil)
    #expect(V1TransactionRow(left).survey().unusableFields == ["purchase_date_pst"])
    #expect(V1TransactionRow(["expires_date": "1606293062000"]).expiresDate == Self.instant)
    #expect(
      V1TransactionRow(["expires_date_formatted": "2020-11-25 08:31:02 Etc/GMT"]).expiresDate == Self.instant)
  }

  @Test(
    arguments: [
      (true, nil, nil, true), (false, nil, nil, false), ("true", "true", nil, true), ("false", "false", nil, false),
      ("1", "1", 1, true), ("0", "0", 0, false), (1, "1", 1, true), (0, "0", 0, false), (7, "7", 7, nil),
      ("x", "x", nil, nil), (.null, nil, nil, nil), ([], nil, nil, nil),
      (2_000_000_000_000_001, "2000000000000001", 2_000_000_000_000_001, nil),
    ] as [(JSONValue, String?, Int64?, Bool?)])
  func `writes numbers as text and text as numbers`(value: JSONValue, text: String?, integer: Int64?, flag: Bool?) {
    #expect(value.looseText == text)
    #expect(value.looseInteger == integer)
    #expect(value.looseFlag == flag)
  }

  @Test func `shows every documented field of a row`() {
    let row = V1TransactionRow([
      "transaction_id": "1", "original_transaction_id": 2, "web_order_line_item_id": "3", "product_id": "p",
      "subscription_group_identifier": "4", "quantity": "5", "purchase_date_ms": "6", "original_purchase_date_ms": "7",
      "expires_date_ms": "8", "cancellation_date_ms": "9", "cancellation_reason": "1", "is_trial_period": "true",
      "is_in_intro_offer_period": "false", "is_upgraded": "true", "in_app_ownership_type": "PURCHASED",
      "promotional_offer_id": "o", "offer_code_ref_name": "c", "app_account_token": "t", "bid": "b",
    ])
    #expect(row.survey().isClean)
    #expect(row.transactionID == "1" && row.originalTransactionID == "2" && row.webOrderLineItemID == "3")
    #expect(row.productID == "p" && row.subscriptionGroupIdentifier == "4" && row.quantity == 5)
    #expect(row.purchaseDate == Timestamp(6) && row.originalPurchaseDate == Timestamp(7))
    #expect(row.expiresDate == Timestamp(8) && row.cancellationDate == Timestamp(9))
    #expect(row.cancellationReason == 1 && row.isTrialPeriod == true && row.isInIntroOfferPeriod == false)
    #expect(row.isUpgraded == true && row.inAppOwnershipType == "PURCHASED" && row.promotionalOfferID == "o")
    #expect(row.offerCodeRefName == "c" && row.appAccountToken == "t" && row.bundleID == "b")
  }

  @Test func `shows every documented field of a notification`() {
    let body = V1NotificationBody([
      "notification_type": "CANCEL", "password": "s", "environment": "PROD", "bid": "b",
      "original_transaction_id": 2_000_000_000_000_001, "auto_renew_product_id": "p", "auto_renew_status": "false",
      "auto_renew_status_change_date_ms": "1", "expiration_intent": 2, "cancellation_date_ms": "3",
      "web_order_line_item_id": "4", "latest_receipt": "r", "deprecation": "Mon, 5 Jun 2023 23:59:59 GMT",
      "unified_receipt": [
        "status": "OK", "environment": "Production", "latest_receipt": "u", "latest_receipt_info": [["quantity": "1"]],
        "pending_renewal_info": [["auto_renew_status": "1", "expiration_intent": "5"]],
      ],
    ])
    #expect(body.survey().isClean, "\(body.survey())")
    #expect(body.notificationType == "CANCEL" && body.password == "s" && body.environment == "PROD")
    #expect(body.bundleID == "b" && body.originalTransactionID == "2000000000000001")
    #expect(body.autoRenewProductID == "p" && body.autoRenewStatus == false && body.expirationIntent == 2)
    #expect(body.autoRenewStatusChangeDate == Timestamp(1) && body.cancellationDate == Timestamp(3))
    #expect(body.webOrderLineItemID == "4" && body.latestReceipt == "r")
    #expect(body.unifiedReceipt?.latestReceipt == "u" && body.unifiedReceipt?.environment == "Production")
    #expect(body.unifiedReceipt?.latestReceiptInfo?.first?.quantity == 1)
    let renewal = body.unifiedReceipt?.pendingRenewalInfo?.first
    #expect(renewal?.autoRenewStatus == true && renewal?.expirationIntent == 5)
    let odd = V1NotificationBody(["notification_type": "X", "expiration_intent": 9, "news": 1]).survey()
    #expect(odd.unknownFields == ["news"])
    #expect(Set(odd.unknownValues) == ["notification_type=X", "expiration_intent=9"])
  }

  @Test func `answers in two shapes`() {
    let list = VerifyReceiptResponse([
      "status": 0, "environment": "Sandbox", "is-retryable": "1",
      "receipt": ["bundle_id": "b", "download_id": 500_628_332_437_815_653, "request_date_ms": "1", "in_app": [[:]]],
      "latest_receipt_info": [[:]],
    ])
    #expect(!list.isFlat && list.latestReceiptInfo?.count == 1 && list.receipt?.inApp?.count == 1)
    #expect(list.isRetryable == true && list.receipt?.downloadID == 500_628_332_437_815_653)
    #expect(list.receipt?.requestDate == Timestamp(1) && list.survey().isClean)
    let flat = VerifyReceiptResponse([
      "status": 21006, "receipt": ["transaction_id": "1", "bid": "b"],
      "latest_expired_receipt_info": ["transaction_id": "2"], "auto_renew_status": 0, "expiration_intent": "1",
    ])
    #expect(flat.isFlat && flat.latestTransactions.first?.transactionID == "2" && flat.receipt?.bundleID == "b")
    #expect(flat.survey().isClean, "\(flat.survey())")
    #expect(VerifyReceiptResponse(["status": 0, "receipt": ["transaction_id": "1"]]).isFlat)
    #expect(!VerifyReceiptResponse(["status": 21007]).isFlat)
    let request = VerifyReceiptRequest(["receipt-data": "MII", "password": "s", "exclude-old-transactions": "true"])
    #expect(request.receiptData == "MII" && request.password == "s" && request.excludeOldTransactions == true)
  }
}
