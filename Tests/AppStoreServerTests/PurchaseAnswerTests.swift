@Suite struct `The simulated App Store Server API` {
  @Test func `tells a history in pages that can be taken up again`() async throws {
    try await House.with(House.quiet()) { house in
      let first = try await house.act("buy", ["productId": "lite.weekly"])
      try await house.advance(days: 7 * 24)
      let path = "/inApps/v2/history/\(first[0])"
      let one = try await house.api("GET", path)
      #expect(one.object["hasMore"] == true)
      #expect(try House.transactions(one).count == 20)
      let revision = try #require(one.object["revision"]?.string)
      let two = try await house.api("GET", path + "?revision=\(revision)")
      #expect(two.object["hasMore"] == false)
      let rest = try House.transactions(two)
      #expect((3...6).contains(rest.count))
      // Nothing new: nothing given, and the same place kept.
      let last = try #require(two.object["revision"]?.string)
      let three = try await house.api("GET", path + "?revision=\(last)")
      #expect(try House.transactions(three) == [])
      #expect(three.object["revision"]?.string == last)
      // A row that changes comes again.
      try await house.act("refund", ["transactionId": .string(first[0])])
      let four = try House.transactions(try await house.api("GET", path + "?revision=\(last)"))
      #expect(four.contains { $0["transactionId"]?.string == first[0] })
      #expect(four.contains { $0["revocationDate"] != nil })
      let newest = try await house.api("GET", path + "?sort=DESCENDING")
      #expect(try House.transactions(newest)[0]["transactionId"]?.string == first[0])
      let refunds = try await house.api("GET", "/inApps/v2/refund/lookup/\(first[0])")
      #expect(try House.transactions(refunds).map { $0["transactionId"]?.string } == [first[0]])
    }
  }

  @Test func `filters a history, and leaves finished consumables to the second version`() async throws {
    try await House.with(House.quiet()) { house in
      let coins = try await house.act("buy", ["productId": "coins.100"])[0]
      let archive = try await house.act("buy", ["productId": "archive"])[0]
      let plus = try await house.act("buy", ["productId": "plus.monthly"])[0]
      try await house.act("finish", ["transactionId": .string(coins)])
      try await house.act("refund", ["transactionId": .string(archive)])
      func ids(_ query: String, version: Int = 2) async throws -> Set<String> {
        let answer = try await house.api("GET", "/inApps/v\(version)/history/\(plus)\(query)")
        #expect(answer.status == 200)
        return Set(try House.transactions(answer).compactMap { $0["transactionId"]?.string })
      }
      #expect(try await ids("") == [coins, archive, plus])
      #expect(try await ids("", version: 1) == [archive, plus])
      #expect(try await ids("?productType=CONSUMABLE&productType=NON_CONSUMABLE") == [coins, archive])
      #expect(try await ids("?productId=plus.monthly") == [plus])
      #expect(try await ids("?subscriptionGroupIdentifier=21004713") == [plus])
      #expect(try await ids("?revoked=true") == [archive])
      #expect(try await ids("?revoked=false") == [coins, plus])
      #expect(try await ids("?inAppOwnershipType=FAMILY_SHARED") == [])
      #expect(try await ids("?endDate=\(House.start.sinceEpoch)") == [])
      #expect(try await ids("?startDate=\(House.start.sinceEpoch)") == [coins, archive, plus])
    }
  }

  @Test func `names each mistake by Apple's number`() async throws {
    try await House.with(House.quiet()) { house in
      let id = try await house.act("buy", ["productId": "plus.monthly"])[0]
      let coins = try await house.act("buy", ["productId": "coins.100"])[0]
      let rows: [(String, String, JSONObject?, APIErrorCode)] = [
        ("GET", "/inApps/v1/transactions/12", nil, .transactionIdNotFound),
        ("GET", "/inApps/v1/transactions/abc", nil, .invalidTransactionId),
        ("GET", "/inApps/v2/history/\(id)?revision=x", nil, .invalidRequestRevision),
        ("GET", "/inApps/v2/history/\(id)?startDate=x", nil, .invalidStartDate),
        ("GET", "/inApps/v2/history/\(id)?endDate=-1", nil, .invalidEndDate),
        ("GET", "/inApps/v2/history/\(id)?startDate=2&endDate=1", nil, .startDateAfterEndDate),
        ("GET", "/inApps/v2/history/\(id)?sort=UP", nil, .invalidSort),
        ("GET", "/inApps/v2/history/\(id)?productType=THING", nil, .invalidProductType),
        ("GET", "/inApps/v2/history/\(id)?inAppOwnershipType=MINE", nil, .invalidInAppOwnershipType),
        ("GET", "/inApps/v2/history/\(id)?revoked=maybe", nil, .invalidRevoked),
        ("GET", "/inApps/v1/subscriptions/\(id)?status=6", nil, .invalidStatus),
        ("PUT", "/inApps/v1/subscriptions/extend/\(id)", ["extendByDays": 91], .invalidExtendByDays),
        (
          "PUT", "/inApps/v1/subscriptions/extend/\(id)", ["extendByDays": 1, "extendReasonCode": 4],
          .invalidExtendReasonCode
        ),
        (
          "PUT", "/inApps/v1/subscriptions/extend/\(coins)",
          ["extendByDays": 1, "extendReasonCode": 1, "requestIdentifier": "x"], .originalTransactionIdNotFound
        ),
        ("PUT", "/inApps/v1/transactions/\(id)/appAccountToken", ["appAccountToken": "x"], .invalidAppAccountTokenUUID),
        ("PUT", "/inApps/v2/transactions/consumption/\(id)", ["customerConsented": false], .invalidCustomerConsented),
        ("GET", "/inApps/v1/notifications/test/x", nil, .invalidTestNotificationToken),
        ("POST", "/inApps/v1/notifications/test", nil, .serverNotificationUrlNotFound),
        ("POST", "/inApps/v1/notifications/history", ["endDate": 1], .invalidStartDate),
        ("POST", "/inApps/v1/notifications/history", ["startDate": 1, "endDate": 2], .startDateTooFarInPast),
        ("GET", "/inApps/v1/subscriptions/extend/mass/plus.monthly/none", nil, .statusRequestNotFound),
      ]
      for (method, path, body, code) in rows {
        let answer = try await house.api(method, path, body)
        #expect(answer.object["errorCode"]?.integer == code.rawValue, "\(method) \(path)")
        #expect(answer.status == code.status)
      }
    }
  }

  @Test func `asks for the right token, app and environment`() async throws {
    try await House.with(House.quiet()) { house in
      let id = try await house.act("buy", ["productId": "plus.monthly"])[0]
      let refused = try await house.api("GET", "/inApps/v1/transactions/\(id)", token: "a.b.c")
      #expect(refused.status == 401 && refused.body.isEmpty)
      let other = try await house.api("GET", "/inApps/v2/history/\(id)", bundleID: "com.example.other")
      #expect(other.status == 200)
      #expect(other.object["signedTransactions"] == .array([]))
      let production = try await house.api("GET", "/inApps/v1/transactions/\(id)", environment: .production)
      #expect(production.object["errorCode"] == 4_040_010)
      let nowhere = try await house.api("GET", "/inApps/v9/transactions/\(id)")
      #expect(nowhere.status == 404)
    }
  }

  @Test func `extends twice a year and tells of it`() async throws {
    try await House.with(House.quiet()) { house in
      let id = try await house.act("buy", ["productId": "plus.monthly"])[0]
      let path = "/inApps/v1/subscriptions/extend/\(id)"
      let request: JSONObject = ["extendByDays": 5, "extendReasonCode": 1, "requestIdentifier": "r"]
      let before = try await house.api("GET", "/inApps/v1/transactions/\(id)")
      let end = try House.payload(before.object["signedTransactionInfo"]?.string)["expiresDate"]?.integer ?? 0
      let answer = try await house.api("PUT", path, request)
      #expect(answer.object["success"] == true)
      #expect(answer.object["effectiveDate"]?.integer == end + Interval.days(5).milliseconds)
      #expect(try await house.api("PUT", path, request).status == 200)
      #expect(try await house.api("PUT", path, request).object["errorCode"] == 4_030_005)
      let all: JSONObject = [
        "extendByDays": 1, "extendReasonCode": 1, "requestIdentifier": "all", "productId": "plus.monthly",
      ]
      #expect(try await house.api("POST", "/inApps/v1/subscriptions/extend/mass", all).status == 200)
      let status = try await house.api("GET", "/inApps/v1/subscriptions/extend/mass/plus.monthly/all")
      #expect(status.object["complete"] == true && status.object["failedCount"] == 1)
    }
  }
}
