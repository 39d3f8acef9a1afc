@Suite(.enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct `Real payloads` {
  private func sample(_ name: String) throws -> JSONObject {
    let bytes = try #require(Samples.bytes(name))
    return try #require(JSONReader.read(bytes).object)
  }

  /// The middle part of a JWS, its signature unread.
  private func decoded(_ jws: some StringProtocol) throws -> JSONObject {
    let parts = jws.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ".")
    try #require(parts.count == 3)
    var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    let payload = try #require(Data(base64Encoded: text))
    return try #require(JSONReader.read(Array(payload)).object)
  }

  private func token(_ name: String) throws -> JSONObject {
    try decoded(String(decoding: #require(Samples.bytes(name)), as: UTF8.self))
  }

  @Test func `a notification of Apple's library`() throws {
    let payload = NotificationPayload(try sample("v2/apple_signedNotification.json"))
    #expect(payload.survey().isClean)
    #expect(payload.notificationType == "SUBSCRIBED")
    #expect(payload.data?.appAppleId == 41_234)
    #expect(payload.data?.status == 1)
    #expect(payload.signedDate == Timestamp(1_698_148_900_000))
    #expect(payload.summary == nil)
  }

  @Test(arguments: ["v2/apple_xcode_transaction.json", "apple_library/xcode/xcode-signed-transaction"])
  func `a transaction signed by Xcode`(name: String) throws {
    let payload = TransactionPayload(try name.hasSuffix("json") ? sample(name) : token(name))
    #expect(payload.survey().unknownFields.sorted() == ["deviceVerification", "deviceVerificationNonce"])
    #expect(payload.survey().unusableFields.isEmpty)
    #expect(payload.survey().unknownValues.isEmpty)
    #expect(payload.purchaseDate == Timestamp(1_697_679_936_050))
    #expect(payload.webOrderLineItemId == "0")
    #expect(payload.isUpgraded == false)
  }

  @Test func `a renewal and an app transaction signed by Xcode`() throws {
    let renewal = RenewalPayload(try token("apple_library/xcode/xcode-signed-renewal-info"))
    #expect(renewal.survey().unknownFields.sorted() == ["deviceVerification", "deviceVerificationNonce"])
    #expect(renewal.renewalDate == Timestamp(1_700_358_336_050))
    #expect(renewal.autoRenewStatus == 1)

    let app = AppTransactionPayload(try token("apple_library/xcode/xcode-signed-app-transaction"))
    #expect(app.survey().unknownFields == ["requestDate"])
    #expect(app.survey().unusableFields.isEmpty)
    #expect(app.originalPurchaseDate == Timestamp(-62_135_769_600_000))
    #expect(app.receiptType == "Xcode")
  }

  @Test func `a production renewal of 2023`() throws {
    let payload = RenewalPayload(try sample("v2/xiachufang_signed_renewal_info.json"))
    #expect(payload.survey().isClean)
    #expect(payload.recentSubscriptionStartDate == Timestamp(1_658_029_753_000))
    #expect(payload.isInBillingRetryPeriod == nil)
  }

  @Test func `an answer of Get All Subscription Statuses of 2021, signed by Apple`() throws {
    let answer = StatusResponse(try sample("v2/omnichess_status_raw_jws.json"))
    #expect(answer.survey().isClean)
    let last = try #require(answer.data?.first?.lastTransactions?.first)
    #expect(last.status == 2)
    let transaction = TransactionPayload(try decoded(#require(last.signedTransactionInfo)))
    #expect(transaction.survey().isClean)
    #expect(transaction.bundleId == "club.omnichess.ios")
    #expect(transaction.environment == nil)
    #expect(transaction.originalTransactionId == last.originalTransactionId)
    let renewal = RenewalPayload(try decoded(#require(last.signedRenewalInfo)))
    #expect(renewal.survey().isClean)
    #expect(renewal.originalTransactionId == last.originalTransactionId)
  }
}
