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
    _ call: APIRequest<Answer>, _ read: @escaping @Sendable (Answer) -> String?
  ) -> @Sendable (AppStoreClient, AppCredentials) async throws -> String? {
    { client, credentials in
      let reply = try await client.send(call, as: credentials, in: .production)
      return read(reply.answer)
    }
  }

  private static func nothing(
    _ call: APIRequest<Void>
  ) -> @Sendable (AppStoreClient, AppCredentials) async throws -> String? {
    { client, credentials in
      let reply = try await client.send(call, as: credentials, in: .production)
      return reply.json == nil ? "x" : nil
    }
  }

  private static let filter: HistoryFilter = {
    var filter = HistoryFilter()
    filter.startDate = Timestamp(5)
    filter.endDate = Timestamp(9)
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
          NotificationHistoryRequest(startDate: Timestamp(1), endDate: Timestamp(2), transactionId: "9"),
          paginationToken: "t"), \.paginationToken)),
    Case(
      endpoint: .requestTestNotification, line: "POST /inApps/v1/notifications/test",
      answer: ["testNotificationToken": "x"], make: ask(.testNotification(), \.testNotificationToken)),
    Case(
      endpoint: .getTestNotificationStatus, line: "GET /inApps/v1/notifications/test/t",
      answer: ["signedPayload": "x"], make: ask(.testNotificationStatus("t"), \.signedPayload)),
  ]

  @Test func `asks as Apple documents it, with a token, and reads the answer`() async throws {
    let rows = Vocabulary.embedded.endpoints.rows.filter { !$0.path.contains("/messaging/") }
    #expect(Set(Self.cases.map(\.endpoint.rawValue)).union(["verifyReceipt"]) == Set(rows.map(\.endpoint)))
    try await withAppStore(Self.cases.map { .json($0.answer) }) { scripted in
      for (index, each) in Self.cases.enumerated() {
        let read = try await each.make(scripted.client, scripted.credentials)
        let asked = scripted.apple.asked[index]
        #expect("\(asked.method) \(asked.target)" == each.line)
        #expect(asked.authorization.hasPrefix("Bearer ey"))
        #expect(asked.json.map { JSONValue.object($0) } == each.body.map { .object($0) }, "\(each.endpoint)")
        #expect(asked.contentType == (each.body == nil ? "" : "application/json"), "\(each.endpoint)")
        #expect(read == "x", "\(each.endpoint)")
      }
    }
  }

  @Test func `is made again only where it changes nothing, or is repeatable`() {
    for row in Vocabulary.embedded.endpoints.rows where !row.changes { #expect(row.isRepeatable, "\(row.endpoint)") }
    #expect(Endpoint(rawValue: "getEverything") == nil)
    #expect(!Endpoint.extendSubscriptionRenewalDate.row.isRepeatable)
    #expect(RateBounds.documented(RateLimitKey(app: "a", endpoint: .lookUpOrderId, environment: .sandbox)).most == 1)
  }

  @Test(arguments: ["", ".", "..", String(repeating: "1", count: 257)])
  func `is refused when a value would change its path`(id: String) async throws {
    #expect(throws: APIError(.invalidCall, .getTransactionInfo, "")) {
      _ = try APIRequest.transactionInfo(id).target()
    }
  }
}
