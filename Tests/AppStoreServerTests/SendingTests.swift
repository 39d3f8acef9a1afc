@Suite struct `The simulated sender of notifications` {
  private func direct(
    _ house: House, _ receiver: Receiver, _ environment: AppStoreEnvironment, version: Int64 = 2,
    stopsAfter400: Bool = false
  ) async throws {
    let answer = try await house.control(
      "PUT", "destinations",
      [
        "bundleId": .string(House.bundleID), "environment": .string(environment.rawValue),
        "url": .string(receiver.url), "version": .integer(version), "stopsAfter400": .bool(stopsAfter400),
      ])
    #expect(answer.status == 200)
  }

  private func attempts(_ house: House) async throws -> [[JSONObject]] {
    let list = try await house.control("GET", "notifications").object["notifications"]?.array ?? []
    return list.map { $0.object?["attempts"]?.array?.compactMap(\.object) ?? [] }
  }

  /// Hours between attempts, with how each went.
  private func hours(_ attempts: [JSONObject]) -> [Int64] {
    let dates = attempts.compactMap { $0["attemptDate"]?.integer }
    return zip(dates, dates.dropFirst()).map { ($1 - $0) / 3_600_000 }
  }

  private static let schedules: [(version: Int64, hours: [Int64])] = [(1, [6, 24, 48]), (2, [1, 12, 24, 48, 72])]

  @Test(arguments: schedules)
  func `tries again as Apple does, and gives up`(version: Int64, expected: [Int64]) async throws {
    try await Receiver.with { receiver in
      receiver.answer(500, 503, 404, 500, 500, 500, 500)
      try await House.with(House.quiet(environment: .production)) { house in
        try await direct(house, receiver, .production, version: version)
        try await house.act("buy", ["productId": "plus.monthly"])
        try await house.advance(days: 20)
        let attempts = try await attempts(house)
        #expect(attempts.map(\.count) == [expected.count + 1])
        #expect(hours(attempts[0]) == expected)
        #expect(attempts[0].allSatisfy { $0["sendAttemptResult"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE" })
        #expect(try receiver.titles().count == expected.count + 1)
        let list = try await house.control("GET", "notifications?state=given%20up")
        #expect(list.object["count"] == 1)
      }
    }
  }

  @Test func `tries once in the Sandbox, and stops at 400 where it is told to`() async throws {
    try await Receiver.with { receiver in
      receiver.answer(500)
      try await House.with(House.quiet()) { house in
        try await direct(house, receiver, .sandbox)
        try await house.act("buy", ["productId": "coins.100"])
        try await house.advance(days: 10)
        #expect(try await attempts(house).map(\.count) == [1])
      }
      receiver.answer(400)
      try await House.with(House.quiet(environment: .production)) { house in
        try await direct(house, receiver, .production, stopsAfter400: true)
        try await house.act("buy", ["productId": "coins.100"])
        try await house.advance(days: 10)
        #expect(try await attempts(house).map(\.count) == [1])
      }
    }
  }

  @Test func `goes on with V1's retries after the switch to V2`() async throws {
    try await Receiver.with { receiver in
      receiver.answer(500, 500)
      try await House.with(House.quiet(environment: .production)) { house in
        try await direct(house, receiver, .production, version: 1)
        try await house.act("buy", ["productId": "plus.monthly"])
        try await house.advance(hours: 1)
        try await direct(house, receiver, .production, version: 2)
        try await house.act("setAutoRenew", ["on": false])
        try await house.advance(days: 5)
        #expect(
          try receiver.titles() == [
            "V1 INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "V1 INITIAL_BUY",
          ])
      }
    }
  }

  @Test func `keeps a history of what V2 was sent, with its failures`() async throws {
    try await Receiver.with { receiver in
      try await House.with(House.quiet(environment: .production)) { house in
        func api(_ method: String, _ path: String, _ body: JSONObject? = nil) async throws -> House.Answer {
          try await house.api(method, path, body, environment: .production)
        }
        try await direct(house, receiver, .production)
        let id = try await house.act("buy", ["productId": "lite.weekly"])[0]
        try await house.advance(days: 170)
        let test = try await api("POST", "/inApps/v1/notifications/test")
        let token = try #require(test.object["testNotificationToken"]?.string)
        try await house.advance(minutes: 1)
        receiver.answer(500)
        try await house.act("setAutoRenew", ["on": false])
        try await house.advance(minutes: 1)
        let now = house.running.world.now.sinceEpoch
        let range: JSONObject = ["startDate": .integer(House.start.sinceEpoch), "endDate": .integer(now + 1)]
        let one = try await api("POST", "/inApps/v1/notifications/history", range)
        #expect(one.object["notificationHistory"]?.array?.count == 20 && one.object["hasMore"] == true)
        let page = try #require(one.object["paginationToken"]?.string)
        let two = try await api("POST", "/inApps/v1/notifications/history?paginationToken=\(page)", range)
        let rest = try #require(two.object["notificationHistory"]?.array)
        let bodies = receiver.bodies.compactMap { $0["signedPayload"] }
        let told = (one.object["notificationHistory"]?.array ?? []) + rest
        // Byte for byte what was received; in the order in which it was told.
        #expect(Set(told.compactMap { $0.object?["signedPayload"] }) == Set(bodies))
        let other = try await api("POST", "/inApps/v1/notifications/history?paginationToken=\(page)x", range)
        #expect(other.object["errorCode"] == 4_000_014)
        var failures = range
        failures["onlyFailures"] = true
        let failed = try await api("POST", "/inApps/v1/notifications/history", failures)
        #expect(failed.object["notificationHistory"]?.array?.count == 1)
        var renewals = range
        renewals["notificationType"] = "DID_CHANGE_RENEWAL_STATUS"
        renewals["transactionId"] = .string(id)
        let both = try await api("POST", "/inApps/v1/notifications/history", renewals)
        #expect(both.object["errorCode"] == 4_000_019)
        let status = try await api("GET", "/inApps/v1/notifications/test/\(token)")
        #expect(try House.payload(status.object["signedPayload"]?.string)["notificationType"] == "TEST")
      }
    }
  }

  @Test(arguments: [
    (#"{"fault":"dropped"}"#, 0), (#"{"fault":"duplicated","value":2}"#, 3),
    (#"{"fault":"delayed","value":7200000}"#, 1),
    (#"{"fault":"unknownType"}"#, 1), (#"{"fault":"unknownFields","on":"notifications"}"#, 1),
  ])
  func `loses, doubles, delays and changes what it is told to`(rule: String, expected: Int) async throws {
    try await Receiver.with { receiver in
      try await House.with(House.quiet()) { house in
        try await direct(house, receiver, .sandbox)
        try await house.fault(try #require(try JSONReader.read(Array(rule.utf8)).object))
        try await house.act("buy", ["productId": "coins.100"])
        try await house.advance(hours: 1)
        let early = try receiver.titles()
        try await house.advance(hours: 2)
        let titles = try receiver.titles()
        #expect(titles.count == expected)
        #expect(early.isEmpty == (rule.contains("delayed") || rule.contains("dropped")))
        #expect(titles.contains("FUTURE_EVENT/FUTURE_KIND") == rule.contains("unknownType"))
        // What was lost is in Apple's history all the same.
        let now = house.running.world.now.sinceEpoch
        let history = try await house.api(
          "POST", "/inApps/v1/notifications/history",
          ["startDate": .integer(House.start.sinceEpoch), "endDate": .integer(now + 1)])
        #expect(history.object["notificationHistory"]?.array?.count == 1)
      }
    }
  }

  @Test func `sends in another order, or as another signer`() async throws {
    try await Receiver.with { receiver in
      try await House.with(House.quiet()) { house in
        try await house.act("buy", ["productId": "coins.100"])
        try await house.act("buy", ["productId": "plus.monthly"])
        try await direct(house, receiver, .sandbox)
        try await house.fault(["fault": "reordered"])
        try await house.advance(hours: 1)
        #expect(try receiver.titles() == ["SUBSCRIBED/INITIAL_BUY", "ONE_TIME_CHARGE"])
        let right = try SignedDataVerifier(
          roots: TrustedRoots(exactly: [house.running.store.identity.chains.pki.trustedRoot()]))
        for (fault, isRefused) in [
          ("newChain", false), ("expiredChain", true), ("foreignChain", true), ("badSignature", true),
        ] {
          try await house.fault(["fault": .string(fault), "on": "notifications"])
          try await house.act("buy", ["productId": "coins.100"])
          try await house.advance(hours: 1)
          let jws = try #require(receiver.bodies.last?["signedPayload"]?.string)
          let verdict = try? right.verifyNotification(
            Array(jws.utf8), expecting: ExpectedClaims(environment: .only(.sandbox)), now: house.clock.clock.now())
          #expect((verdict == nil) == isRefused, "\(fault)")
        }
      }
    }
  }

  @Test func `says how each try went in Apple's words`() {
    let date = House.start
    #expect(SendAttempt(at: date, answered: 200).result == .success)
    #expect(SendAttempt(at: date, answered: 206).result == .success)
    #expect(SendAttempt(at: date, answered: 301).result == .unsuccessfulHTTPResponseCode)
    #expect(SendAttempt(at: date, answered: 500).json["sendAttemptResult"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    #expect(SendAttempt.Result.allCases.count == 11)
  }
}
