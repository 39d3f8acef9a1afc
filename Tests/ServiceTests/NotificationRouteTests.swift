@Suite struct `POST notifications` {
  @Test func `stores what Apple signed and says so again for the same body`() async throws {
    try await RunningService.with { service in
      let body = try service.notification()
      let first = try await service.post("/notifications", body)
      #expect(first.status == 200 && first.body["status"] == "stored")
      let second = try await service.post("/notifications/\(RunningService.app)", body)
      #expect(second.status == 200 && second.body["status"] == "duplicate")
      let rows = try await service.pool.read { session throws(DatabaseError) in
        try session.query("SELECT (SELECT COUNT(*) FROM inbox) AS inbox, (SELECT COUNT(*) FROM purchases) AS purchases")
      }
      #expect(try rows[0].int("inbox") == 1 && rows[0].int("purchases") == 1)
    }
  }

  /// 196 MB of log in 16 seconds.
  @Test func `counts each refusal, and logs ten of each reason`() async throws {
    try await RunningService.with { service in
      for number in 0..<13 {
        let answer = try await service.post("/notifications", Array("{\"signedPayload\":\"a.\(number).c\"}".utf8))
        #expect(answer.body["status"] == "quarantined")
      }
      #expect(try await service.post("/notifications", Array("none".utf8)).status == 400)
      let lines = service.log.records.filter { $0.message == "not accepted" }
      #expect(lines.count == 11)
      let metrics = try await service.text("/metrics").text
      #expect(
        metrics.contains("switchyard_messages_total{kind=\"notifications\",app=\"\",outcome=\"quarantined\"} 13\n"))
    }
  }

  @Test func `queues what Apple's networks name before what others do, and of one address only so much`() async throws {
    let proxy = try #require(Network("127.0.0.1"))
    let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
    try await RunningService.with(sources: IPAllowlist(networks: [], proxies: [proxy])) { service in
      try await service.register(secret: secret)
      func post(_ ids: Range<Int>, from sender: String) async throws {
        let rows = ids.map { id -> JSONValue in
          [
            "product_id": "monthly", "quantity": "1", "transaction_id": .string("\(id)"),
            "original_transaction_id": .string("\(id)"), "purchase_date_ms": "1770000000000",
            "expires_date_ms": "1790000000000",
          ]
        }
        let body: JSONObject = [
          "notification_type": "INITIAL_BUY", "bid": .string(RunningService.app), "password": .string(secret),
          "environment": "Sandbox",
          "unified_receipt": ["status": 0, "environment": "Sandbox", "latest_receipt_info": .array(rows)],
        ]
        let answer = try await service.post(
          "/notifications", body.encoded(), headers: [("X-Forwarded-For", sender)])
        #expect(answer.body["status"] == "stored", "\(answer)")
      }
      func waiting(_ kind: Int) async throws -> Int {
        try await service.pool.read { session throws(DatabaseError) in
          try session.query("SELECT COUNT(*) FROM work WHERE kind = \(kind)").first?.int(0) ?? -1
        }
      }
      // No body of Apple's has more rows than this.
      try await post(100_000..<100_300, from: "203.0.113.5")
      #expect(try await waiting(3) == 16, "of one message")
      for first in stride(from: 110_000, to: 111_120, by: 16) {
        try await post(first..<first + 16, from: "203.0.113.5")
      }
      // One more for each second that this takes.
      #expect((1_000..<1_100).contains(try await waiting(3)))
      try await post(200_000..<200_001, from: "203.0.113.6")
      try await post(300_000..<300_001, from: "17.58.1.1")
      #expect(try await waiting(2) == 1, "known customers' and Apple's")
      #expect((1_001..<1_101).contains(try await waiting(3)))
    }
  }

  @Test func `keeps aside what it cannot accept, each with its reason, and answers 200`() async throws {
    try await RunningService.with { service in
      let foreign = try ApplePKI.generate(at: RunningService.now)
      let cases: [(String, [UInt8])] = [
        ("unknownRoot", try service.notification(signedBy: foreign)),
        (
          "unknownApp",
          try service.notification { transaction, data, _ in
            transaction["bundleId"] = "com.example.other"
            data["bundleId"] = "com.example.other"
          }
        ),
        (
          "contradictsEnvelope",
          try service.notification { transaction, _, _ in transaction["bundleId"] = "com.example.other" }
        ),
        ("wrongAppAppleId", try service.notification { _, data, _ in data["appAppleId"] = 1 }),
        (
          "missingIdentity",
          try service.notification { transaction, _, _ in transaction["originalTransactionId"] = nil }
        ),
        ("missingSignedDate", try service.notification { transaction, _, _ in transaction["signedDate"] = nil }),
        ("appNotNamed", Array(#"{"notification_type":"CANCEL","password":"5ecretsecret"}"#.utf8)),
      ]
      for (code, body) in cases {
        let answer = try await service.post("/notifications", body)
        #expect(answer.status == 200 && answer.body["status"] == "quarantined", "\(code)")
        let again = try await service.post("/notifications", body)
        #expect(again.body["status"] == "quarantinedBefore", "\(code)")
      }
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 100, in: session)
      }
      #expect(Set(kept.map(\.code)) == Set(cases.map(\.0)))
      let legacy = kept.first { $0.code == "appNotNamed" }
      let text = String(decoding: legacy?.message.body ?? [], as: UTF8.self)
      #expect(text.contains("5ecretsecret"))
      let lines = service.log.records.map { "\($0)" }.joined()
      #expect(!lines.contains("5ecretsecret") && !lines.contains("eyJ"))
    }
  }

  @Test(arguments: ["", "{", "[]", "{}", "not json", "a.b", "{\"signedPayload\":\"x\"}"])
  func `answers 400 to what is not even JSON or a JWS`(body: String) async throws {
    try await RunningService.with { service in
      let answer = try await service.post("/notifications", Array(body.utf8))
      #expect(answer.status == 400)
      #expect(answer.body["error"]?.object?["code"]?.string != nil)
    }
  }

  @Test func `keeps a type that nobody knows and counts it`() async throws {
    try await RunningService.with { service in
      let body = try service.notification("BRAND_NEW") { transaction, _, payload in
        payload["subtype"] = "NEVER_SEEN"
        transaction["someFutureField"] = ["a": 1]
      }
      #expect(try await service.post("/notifications", body).body["status"] == "stored")
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("switchyard_undocumented_values_total{what=\"value\"} 2"))
      #expect(metrics.contains("switchyard_undocumented_values_total{what=\"field\"} 1"))
      let events = try await service.pool.read { session throws(DatabaseError) in
        try session.query("SELECT notification_type, rule FROM events")
      }
      let event = try #require(events.first)
      #expect(try event.text("notification_type") == "BRAND_NEW" && event.optionalText("rule") == nil)
    }
  }

  @Test func `takes nothing from outside the allowed networks`() async throws {
    let proxy = try #require(Network("127.0.0.1"))
    let sources = IPAllowlist(networks: IPAllowlist.apple, proxies: [proxy])
    try await RunningService.with(sources: sources) { service in
      let body = try service.notification()
      #expect(try await service.post("/notifications", body).status == 403)
      let apple = [(name: "X-Forwarded-For", value: "203.0.113.9, 17.58.0.1")]
      #expect(try await service.post("/notifications", body, headers: apple).status == 200)
      let forged = [(name: "X-Forwarded-For", value: "17.58.0.1, 203.0.113.9")]
      #expect(try await service.post("/notifications", body, headers: forged).status == 403)
    }
  }

  @Test(arguments: ["transactionId", "originalTransactionId", "webOrderLineItemId", "productId", "appAccountToken"])
  func `keeps aside an id that is longer than any of Apple's`(field: String) async throws {
    try await RunningService.with { service in
      let body = try service.notification { transaction, _, _ in
        transaction[field] = .string(String(repeating: "👨‍👩‍👧‍👦", count: 60))
      }
      let answer = try await service.post("/notifications", body)
      #expect(answer.status == 200 && answer.body["status"] == "quarantined")
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.page(after: nil, code: "valueTooLong", digestPrefix: nil, limit: 9, in: session)
      }
      #expect(kept.count == 1)
    }
  }

  @Test func `keeps a V1 body aside whatever it claims to be of`() async throws {
    try await RunningService.with { service in
      let family = String(repeating: "👨‍👩‍👧‍👦", count: 80)
      let body: JSONObject = [
        "notification_type": "CANCEL", "bid": .string(family), "a": ["password": "topsecret"], "password": "topsecret",
      ]
      let answer = try await service.post("/notifications", body.encoded())
      #expect(answer.body["status"] == "quarantined")
    }
  }

  @Test func `makes one message of one JWS, however it is wrapped`() async throws {
    try await RunningService.with { service in
      let body = try service.notification()
      #expect(try await service.post("/notifications", body).body["status"] == "stored")
      for wrapping in 0..<3 {
        var object = try #require(try JSONReader.read(body).object)
        object["n"] = .integer(Int64(wrapping))
        #expect(try await service.post("/notifications", object.encoded()).body["status"] == "duplicate")
      }
    }
  }

  @Test func `keeps for good reasons what has the form of a notification but not its contents`() async throws {
    try await RunningService.with { service in
      func sources() async throws -> Set<String> {
        try await service.pool.read { session throws(DatabaseError) in
          Set(try QuarantineTable.reasons(in: session).map(\.source))
        }
      }
      let transaction = try service.pki.sign(["bundleId": .string(RunningService.app), "environment": "Sandbox"])
      let body: JSONObject = ["signedPayload": .string(String(decoding: transaction, as: UTF8.self))]
      #expect(try await service.post("/notifications", body.encoded()).body["status"] == "quarantined")
      // Anybody who bought something can send these: not in the quota of messages that wait for their app.
      #expect(try await sources() == ["unproven"])
      // The notification around it is signed.
      let nested = try service.notification { _, data, _ in data["signedTransactionInfo"] = "zzz" }
      #expect(try await service.post("/notifications", nested).body["status"] == "quarantined")
      #expect(try await sources() == ["unproven", "authentic"])
    }
  }
}
