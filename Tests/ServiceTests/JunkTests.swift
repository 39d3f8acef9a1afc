@testable import Service

@Suite struct `What is kept of one address's junk` {
  private static let start = Timestamp(1_780_000_000_000)

  private func allowance(_ change: (inout SenderRateLimiter.Settings) -> Void = { _ in }) -> SenderRateLimiter {
    var settings = SenderRateLimiter.Settings()
    (settings.burst, settings.refill, settings.addresses) = (3, .seconds(30), 10)
    change(&settings)
    return SenderRateLimiter(settings)
  }

  private func address(_ last: Int) -> PeerAddress { PeerAddress(bytes: [192, 0, 2, UInt8(last)], port: 1) }

  @Test func `is a burst, and then a little at a time`() {
    let allowance = allowance()
    for _ in 0..<3 { #expect(allowance.take(10, from: address(1), at: Self.start)) }
    #expect(!allowance.take(10, from: address(1), at: Self.start))
    #expect(!allowance.take(10, from: address(1), at: Self.start + .seconds(29)))
    #expect(allowance.take(10, from: address(1), at: Self.start + .seconds(30)))
    #expect(!allowance.take(10, from: address(1), at: Self.start + .seconds(30)))
    // Never more than a burst, and none for a clock that goes back.
    for _ in 0..<3 { #expect(allowance.take(10, from: address(1), at: Self.start + .hours(24))) }
    #expect(!allowance.take(10, from: address(1), at: Self.start))
    #expect(!allowance.take(10, from: address(1), at: Self.start + .hours(24)))
    #expect(allowance.take(10, from: address(2), at: Self.start))
  }

  @Test func `is less for large messages`() {
    let allowance = allowance()
    #expect(allowance.take(20 << 10, from: address(1), at: Self.start))
    #expect(!allowance.take(20 << 10, from: address(1), at: Self.start))
    #expect(allowance.take(10, from: address(1), at: Self.start))
    // A message that is dearer than any bucket takes a full one.
    #expect(allowance.take(1 << 20, from: address(2), at: Self.start))
    #expect(!allowance.take(1, from: address(2), at: Self.start))
  }

  @Test func `counts a /64 of IPv6 as one address`() {
    let allowance = allowance()
    let network: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1]
    for host in 0..<3 {
      let peer = PeerAddress(bytes: network + [0, 0, 0, 0, 0, 0, 0, UInt8(host)], port: 1)
      #expect(allowance.take(10, from: peer, at: Self.start))
    }
    #expect(!allowance.take(10, from: PeerAddress(bytes: network + [9, 9, 9, 9, 9, 9, 9, 9], port: 1), at: Self.start))
    let next = PeerAddress(bytes: network.dropLast() + [2, 0, 0, 0, 0, 0, 0, 0, 1], port: 1)
    #expect(allowance.take(10, from: next, at: Self.start))
  }

  @Test func `is not limited for Apple's own networks`() {
    let allowance = allowance()
    for _ in 0..<100 {
      #expect(allowance.take(1 << 20, from: PeerAddress(bytes: [17, 58, 0, 1], port: 1), at: Self.start))
    }
  }

  @Test func `is of a bounded number of addresses, beyond which all others share one bucket`() {
    let allowance = allowance()
    for last in 0..<10 { #expect(allowance.take(10, from: address(last), at: Self.start)) }
    for last in 10..<13 { #expect(allowance.take(10, from: address(last), at: Self.start)) }
    #expect(!allowance.take(10, from: address(13), at: Self.start))
    // Those that have a bucket keep it, and those that are full again make room.
    #expect(allowance.take(10, from: address(0), at: Self.start))
    #expect(allowance.take(10, from: address(13), at: Self.start + .seconds(40)))
  }
}

@Suite struct `Junk beyond its rate` {
  private func forged(_ number: Int, _ service: RunningService, _ stranger: ApplePKI) throws -> [UInt8] {
    try service.notification(id: "30000000000000\(10 + number)", signedBy: stranger)
  }

  @Test func `is counted and not kept, while what Apple signed still is`() async throws {
    try await RunningService.with({
      $0.junk.burst = 2
      $0.junk.exempt = []
    }) { service in
      let stranger = try ApplePKI.generate(at: RunningService.now)
      for number in 0..<2 {
        #expect(try await service.post("/notifications", forged(number, service, stranger)).status == 200)
      }
      let refused = try await service.post("/notifications", forged(2, service, stranger))
      #expect(refused.status == 429 && refused.body["error"]?.object?["code"] == "tooManyUnproven")
      let legacy: JSONObject = [
        "notification_type": "DID_RENEW", "password": "guessed", "bid": .string(RunningService.app),
        "environment": "Sandbox",
      ]
      // Before its secret is registered, an app's genuine messages look the same.
      #expect(try await service.post("/notifications", legacy.encoded()).body["status"] == "quarantined")
      try await service.register(secret: "registered now")
      var another = legacy
      another["auto_renew_product_id"] = "monthly"
      #expect(try await service.post("/notifications", another.encoded()).status == 429)
      // Set aside too, but Apple's.
      let unregistered = try service.notification(id: "3000000000000090") { transaction, data, _ in
        transaction["bundleId"] = "com.example.unregistered"
        data["bundleId"] = "com.example.unregistered"
      }
      #expect(try await service.post("/notifications", unregistered).body["status"] == "quarantined")
      #expect(try await service.post("/notifications", service.notification()).body["status"] == "stored")
      #expect(try await service.rowCount("quarantine") == 4)
      #expect(try await service.rowCount("inbox") == 1)
      let metrics = try await service.text("/metrics").text
      for line in [
        "switchyard_quarantine_dropped_total{source=\"unproven\",reason=\"rate\"} 1",
        "switchyard_quarantine_dropped_total{source=\"legacy\",reason=\"rate\"} 1",
      ] { #expect(metrics.contains(line), "\(line)") }
    }
  }

  /// An app to which Apple sends V2 alone has no secret, and everybody may know its name.
  @Test func `of an app without a secret is limited too, but for those that may be Apple`() async throws {
    let proxy = try #require(Network("127.0.0.1"))
    func posted(_ sources: IPAllowlist, from client: String) async throws -> [Int] {
      var statuses: [Int] = []
      try await RunningService.with({ $0.junk.burst = 2 }, sources: sources) { service in
        for number in 0..<4 {
          let body: JSONObject = [
            "notification_type": "DID_RENEW", "bid": .string(RunningService.app), "environment": "Sandbox",
            "auto_renew_product_id": .string("p\(number)"),
          ]
          let from = [(name: "X-Forwarded-For", value: client)]
          statuses.append(try await service.post("/notifications", body.encoded(), headers: from).status)
        }
      }
      return statuses
    }
    let everybody = IPAllowlist(networks: [], proxies: [proxy])
    #expect(try await posted(everybody, from: "203.0.113.9") == [200, 200, 429, 429])
    #expect(try await posted(everybody, from: "17.58.0.1") == [200, 200, 200, 200])
    #expect(try await posted(.anywhere, from: "203.0.113.9") == [200, 200, 200, 200])
    let named = IPAllowlist(networks: [try #require(Network("203.0.113.0/24"))], proxies: [proxy])
    #expect(try await posted(named, from: "203.0.113.9") == [200, 200, 200, 200])
  }

  /// What nobody vouches for is refused unread then; what somebody may vouch for is read.
  @Test(arguments: ["5ec7e75ec7e75ec7e75ec7e75ec7e75e", "not as Apple makes them"])
  func `takes the place of nothing that has the secret or a signature`(secret: String) async throws {
    let proxy = try #require(Network("127.0.0.1"))
    let everybody = IPAllowlist(networks: [], proxies: [proxy])
    try await RunningService.with({ $0.junk.burst = 1 }, sources: everybody) { service in
      try await service.register(secret: secret)
      func posted(_ body: [UInt8]) async throws -> (status: Int, code: JSONValue?) {
        let from = [(name: "X-Forwarded-For", value: "203.0.113.9")]
        let response = try await service.post("/notifications", body, headers: from)
        return (response.status, response.body["status"] ?? response.body["error"]?.object?["code"])
      }
      func legacy(_ product: String, _ password: String?) -> JSONObject {
        var body: JSONObject = [
          "notification_type": "DID_RENEW", "bid": .string(RunningService.app), "environment": "Sandbox",
          "auto_renew_product_id": .string(product), "original_transaction_id": 1_000,
          "unified_receipt": [
            "environment": "Sandbox", "status": 0, "latest_receipt_info": [], "pending_renewal_info": [],
          ],
        ]
        if let password { body["password"] = .string(password) }
        return body
      }
      #expect(try await posted(legacy("a", nil).encoded()).status == 200)
      for number in 0..<3 {
        let refused = try await posted(legacy("b\(number)", "guessed").encoded())
        #expect(refused.status == 429 && refused.code == "tooManyUnproven")
      }
      #expect(try await posted(legacy("c", secret).encoded()).code == "stored")
      let escaped = String(decoding: legacy("d", secret).encoded(), as: UTF8.self)
        .replacing(secret, with: secret.unicodeScalars.map { "\\u00" + String($0.value, radix: 16) }.joined())
      #expect(try await posted(Array(escaped.utf8)).code == "stored")
      let jws = try #require(JSONReader.read(service.notification()).object?["signedPayload"])
      let signed: JSONObject = ["signedPayload": jws, "more": 1]
      #expect(try await posted(signed.encoded()).code == "stored")
      #expect(try await service.rowCount("quarantine") == 1)
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains(#"switchyard_messages_total{kind="notifications",app="",outcome="notKept"} 3"#))
    }
  }

  /// Anybody with a developer account can have Apple sign notifications of an app of theirs.
  @Test func `is what Apple signed about an app that is not registered, unless Apple sent it`() async throws {
    let proxy = try #require(Network("127.0.0.1"))
    try await RunningService.with(
      { $0.junk.burst = 2 }, sources: IPAllowlist(networks: [], proxies: [proxy])
    ) { service in
      func post(_ number: Int, of app: String, to path: String = "", from client: String) async throws -> Int {
        let body = try service.notification(id: "40000000000000\(10 + number)") { transaction, data, _ in
          (transaction["bundleId"], data["bundleId"]) = (.string(app), .string(app))
        }
        let from = [(name: "X-Forwarded-For", value: client)]
        return try await service.post("/notifications" + path, body, headers: from).status
      }
      let (own, stranger, apple) = ("com.example.attacker", "203.0.113.9", "17.58.0.1")
      #expect(try await post(0, of: own, from: stranger) == 200)
      // The URL of an app that is registered makes it no message of that app.
      #expect(try await post(1, of: own, to: "/\(RunningService.app)", from: stranger) == 200)
      #expect(try await post(2, of: own, from: stranger) == 429)
      for number in 3..<6 { #expect(try await post(number, of: own, from: apple) == 200) }
      // What Apple signed about a registered app is Apple's, whoever brings it.
      #expect(try await post(6, of: RunningService.app, to: "/com.example.other", from: stranger) == 200)
      #expect(try await post(7, of: RunningService.app, from: stranger) == 200)
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.reasons(in: session)
      }
      let counts = Dictionary(
        kept.map { ("\($0.source) \($0.code)", $0.count) }, uniquingKeysWith: +)
      let expected = [
        "unproven unknownApp": 1, "unproven wrongBundle": 1, "authentic unknownApp": 3, "authentic wrongBundle": 1,
      ]
      #expect(counts == expected)
      #expect(try await service.rowCount("inbox") == 1)
    }
  }

  @Test func `that is not even JSON fills no log`() async throws {
    try await RunningService.with({
      $0.junk.burst = 2
      $0.junk.exempt = []
    }) { service in
      for number in 0..<6 {
        #expect(try await service.post("/notifications", Array("junk \(number)".utf8)).status == 400)
      }
      #expect(service.log.messages.count { $0 == "not accepted" } == 2)
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("outcome=\"unreadable\"} 6"))
    }
  }
}
