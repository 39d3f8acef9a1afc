@Suite struct `A call of the App Store Server API` {
  private struct Case: Sendable {
    let endpoint: Endpoint
    let line: String
    var body: JSONObject?
    let answer: JSONObject
    /// Makes the call and gives something out of the answer.
    let make: @Sendable (AppStoreClient, AppCredentials) async throws -> String?
  }

  /// Asks in Production and reads one field.
  private static func ask<Answer>(
    _ call: Call<Answer>, _ read: @escaping @Sendable (Answer) -> String?
  ) -> @Sendable (AppStoreClient, AppCredentials) async throws -> String? {
    { client, credentials in
      let reply = try await client.send(call, as: credentials, in: .production)
      return read(reply.answer)
    }
  }

  private static func nothing(
    _ call: Call<Void>
  ) -> @Sendable (AppStoreClient, AppCredentials) async throws -> String? {
    { client, credentials in
      let reply = try await client.send(call, as: credentials, in: .production)
      return reply.json == nil ? "x" : nil
    }
  }

  private static let filter: HistoryFilter = {
    var filter = HistoryFilter()
    filter.startDate = Milliseconds(5)
    filter.endDate = Milliseconds(9)
    filter.productIDs = ["a+b", "c d"]
    filter.productTypes = [.consumable, .autoRenewable]
    filter.sort = .descending
    filter.subscriptionGroupIdentifiers = ["20"]
    filter.inAppOwnershipType = "PURCHASED"
    filter.revoked = false
    return filter
  }()

  private static let cases: [Case] = [
    Case(
      endpoint: .getTransactionHistory,
      line: "GET /inApps/v2/history/1?startDate=5&endDate=9&productId=a%2Bb&productId=c%20d&productType=CONSUMABLE"
        + "&productType=AUTO_RENEWABLE&sort=DESCENDING&subscriptionGroupIdentifier=20&inAppOwnershipType=PURCHASED"
        + "&revoked=false&revision=1_2%3D",
      answer: ["revision": "x", "hasMore": false],
      make: ask(.transactionHistory(of: "1", filter, revision: "1_2="), \.revision)),
    Case(
      endpoint: .getTransactionHistoryV1, line: "GET /inApps/v1/history/1", answer: ["revision": "x"],
      make: ask(.transactionHistoryV1(of: "1"), \.revision)),
    Case(
      endpoint: .getTransactionInfo, line: "GET /inApps/v1/transactions/1", answer: ["signedTransactionInfo": "x"],
      make: ask(.transactionInfo("1"), \.signedTransactionInfo)),
    Case(
      endpoint: .getAppTransactionInfo, line: "GET /inApps/v1/transactions/appTransactions/1",
      answer: ["signedAppTransactionInfo": "x"], make: ask(.appTransactionInfo(of: "1"), \.signedAppTransactionInfo)),
    Case(
      endpoint: .getAllSubscriptionStatuses, line: "GET /inApps/v1/subscriptions/1?status=1&status=4",
      answer: ["bundleId": "x"], make: ask(.subscriptionStatuses(of: "1", statuses: [1, 4]), \.bundleId)),
    Case(
      endpoint: .getRefundHistory, line: "GET /inApps/v2/refund/lookup/1?revision=r", answer: ["revision": "x"],
      make: ask(.refundHistory(of: "1", revision: "r"), \.revision)),
    Case(
      endpoint: .lookUpOrderId, line: "GET /inApps/v1/lookup/M1%3F%23", answer: ["signedTransactions": ["x"]],
      make: ask(.order("M1?#"), \.signedTransactions?.first)),
    Case(
      endpoint: .sendConsumptionInformation, line: "PUT /inApps/v2/transactions/consumption/1",
      body: ["customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": true], answer: [:],
      make: nothing(
        .consumption(
          ConsumptionRequest(customerConsented: true, deliveryStatus: "DELIVERED", sampleContentProvided: true),
          of: "1"))),
    Case(
      endpoint: .sendConsumptionInformationV1, line: "PUT /inApps/v1/transactions/consumption/1",
      body: ["customerConsented": true, "appAccountToken": "", "playTime": 3], answer: [:],
      make: nothing(
        .consumptionV1(ConsumptionRequestV1(customerConsented: true, appAccountToken: "", playTime: 3), of: "1"))),
    Case(
      endpoint: .setAppAccountToken, line: "PUT /inApps/v1/transactions/1/appAccountToken",
      body: ["appAccountToken": "u"], answer: [:], make: nothing(.setAppAccountToken("u", of: "1"))),
    Case(
      endpoint: .finishTransaction, line: "POST /inApps/v1/transactions/1/finish", answer: [:],
      make: nothing(.finish("1"))),
    Case(
      endpoint: .extendSubscriptionRenewalDate, line: "PUT /inApps/v1/subscriptions/extend/1",
      body: ["extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": "r"], answer: ["webOrderLineItemId": "x"],
      make: ask(
        .extend(ExtendRenewalDateRequest(extendByDays: 7, extendReasonCode: 1, requestIdentifier: "r"), of: "1"),
        \.webOrderLineItemId)),
    Case(
      endpoint: .extendRenewalDatesForAllActiveSubscribers, line: "POST /inApps/v1/subscriptions/extend/mass",
      body: [
        "extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": "r", "storefrontCountryCodes": ["DEU"],
        "productId": "p",
      ],
      answer: ["requestIdentifier": "x"],
      make: ask(
        .extendAll(
          MassExtendRenewalDateRequest(
            extendByDays: 7, extendReasonCode: 1, requestIdentifier: "r", storefrontCountryCodes: ["DEU"],
            productId: "p")), \.requestIdentifier)),
    Case(
      endpoint: .getStatusOfSubscriptionRenewalDateExtensions,
      line: "GET /inApps/v1/subscriptions/extend/mass/p/r", answer: ["requestIdentifier": "x"],
      make: ask(.extensionStatus(of: "p", requestIdentifier: "r"), \.requestIdentifier)),
    Case(
      endpoint: .getNotificationHistory, line: "POST /inApps/v1/notifications/history?paginationToken=t",
      body: ["startDate": 1, "endDate": 2, "transactionId": "9"], answer: ["paginationToken": "x"],
      make: ask(
        .notificationHistory(
          NotificationHistoryRequest(startDate: Milliseconds(1), endDate: Milliseconds(2), transactionId: "9"),
          paginationToken: "t"), \.paginationToken)),
    Case(
      endpoint: .requestTestNotification, line: "POST /inApps/v1/notifications/test",
      answer: ["testNotificationToken": "x"], make: ask(.testNotification(), \.testNotificationToken)),
    Case(
      endpoint: .getTestNotificationStatus, line: "GET /inApps/v1/notifications/test/t",
      answer: ["signedPayload": "x"], make: ask(.testNotificationStatus("t"), \.signedPayload)),
    Case(
      endpoint: .uploadImage, line: "PUT /inApps/v1/messaging/image/i?imageSize=FULL_SIZE", answer: [:],
      make: nothing(.uploadImage([0x89, 0x50], as: "i", imageSize: "FULL_SIZE"))),
    Case(
      endpoint: .deleteImage, line: "DELETE /inApps/v1/messaging/image/i", answer: [:], make: nothing(.deleteImage("i"))
    ),
    Case(
      endpoint: .getImageList, line: "GET /inApps/v1/messaging/image/list",
      answer: ["imageIdentifiers": [["imageIdentifier": "x"]]],
      make: ask(.imageList(), \.imageIdentifiers?.first?.imageIdentifier)),
    Case(
      endpoint: .uploadMessage, line: "PUT /inApps/v1/messaging/message/m", body: ["header": "h", "body": "b"],
      answer: [:], make: nothing(.uploadMessage(UploadMessageRequestBody(header: "h", body: "b"), as: "m"))),
    Case(
      endpoint: .deleteMessage, line: "DELETE /inApps/v1/messaging/message/m", answer: [:],
      make: nothing(.deleteMessage("m"))),
    Case(
      endpoint: .getMessageList, line: "GET /inApps/v1/messaging/message/list",
      answer: ["messageIdentifiers": [["messageState": "x"]]],
      make: ask(.messageList(), \.messageIdentifiers?.first?.messageState)),
    Case(
      endpoint: .configureDefaultMessage, line: "PUT /inApps/v1/messaging/default/p/en-US",
      body: ["messageIdentifier": "m"], answer: [:],
      make: nothing(.configureDefaultMessage("m", of: "p", locale: "en-US"))),
    Case(
      endpoint: .deleteDefaultMessage, line: "DELETE /inApps/v1/messaging/default/p/en-US", answer: [:],
      make: nothing(.deleteDefaultMessage(of: "p", locale: "en-US"))),
    Case(
      endpoint: .getDefaultMessage, line: "GET /inApps/v1/messaging/default/p/en-US",
      answer: ["messageIdentifier": "x"], make: ask(.defaultMessage(of: "p", locale: "en-US"), \.messageIdentifier)),
    Case(
      endpoint: .configureRealtimeURL, line: "PUT /inApps/v1/messaging/realtime/url",
      body: ["realtimeURL": "https://example.com"], answer: [:],
      make: nothing(.configureRealtimeURL("https://example.com"))),
    Case(
      endpoint: .deleteRealtimeURL, line: "DELETE /inApps/v1/messaging/realtime/url", answer: [:],
      make: nothing(.deleteRealtimeURL())),
    Case(
      endpoint: .getRealtimeURL, line: "GET /inApps/v1/messaging/realtime/url", answer: ["realtimeURL": "x"],
      make: ask(.realtimeURL(), \.realtimeURL)),
    Case(
      endpoint: .initiatePerformanceTest, line: "POST /inApps/v1/messaging/performanceTest",
      body: ["originalTransactionId": "1"], answer: ["requestId": "x"],
      make: ask(.performanceTest(of: "1"), \.requestId)),
    Case(
      endpoint: .getPerformanceTestResults, line: "GET /inApps/v1/messaging/performanceTest/result/r",
      answer: ["target": "x"], make: ask(.performanceTestResult("r"), \.target)),
  ]

  @Test func `asks for each of the 31 paths as Apple documents it, with a token, and reads the answer`() async throws {
    #expect(Set(Self.cases.map(\.endpoint)).union([.verifyReceipt]) == Set(Endpoint.allCases))
    try await withAppStore(Self.cases.map { .json($0.answer) }) { scripted in
      for (index, each) in Self.cases.enumerated() {
        let read = try await each.make(scripted.client, scripted.credentials)
        let asked = scripted.apple.asked[index]
        #expect("\(asked.method) \(asked.target)" == each.line)
        #expect(asked.authorization.hasPrefix("Bearer ey"))
        #expect(asked.json.map { JSONValue.object($0) } == each.body.map { .object($0) }, "\(each.endpoint)")
        if each.endpoint == .uploadImage {
          #expect(asked.body == [0x89, 0x50])
          #expect(asked.contentType == "image/png")
        } else {
          #expect(asked.contentType == (each.body == nil ? "" : "application/json"), "\(each.endpoint)")
        }
        #expect(read == "x", "\(each.endpoint)")
      }
    }
  }

  @Test func `has a row for each endpoint, and no other`() {
    #expect(Set(Endpoint.allCases.map(\.rawValue)) == Set(Vocabulary.embedded.endpoints.rows.map(\.endpoint)))
    for endpoint in Endpoint.allCases where endpoint.isReading { #expect(endpoint.row.isRepeatable, "\(endpoint)") }
    #expect(!Endpoint.extendSubscriptionRenewalDate.row.isRepeatable)
    #expect(RateBounds.documented(BudgetKey(app: "a", endpoint: .lookUpOrderId, environment: .sandbox)).most == 1)
  }

  @Test(arguments: ["", ".", "..", String(repeating: "1", count: 257)])
  func `is refused when a value would change its path`(id: String) async throws {
    #expect(throws: CallFailure(.invalidCall, .getTransactionInfo, "")) {
      _ = try Call.transactionInfo(id).target()
    }
  }
}
