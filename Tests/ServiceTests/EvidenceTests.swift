@Suite struct `POST evidence` {
  @Test func `takes Apple's own signed statuses of 2021 when the envelope does not contradict them`() async throws {
    guard let answer = Samples.bytes("v2/omnichess_status_raw_jws.json") else { return }
    try await RunningService.with(app: "club.omnichess.ios") { service in
      let refused = try await service.post("/v1/evidence", answer, token: service.token)
      #expect(refused.status == 422)
      #expect(refused.body["error"]?.object?["code"] == "contradictsEnvelope")

      var corrected = try #require(try JSONReader.read(answer).object)
      corrected["bundleId"] = "club.omnichess.ios"
      let taken = try await service.post("/v1/evidence", corrected.encoded(), token: service.token)
      #expect(taken.status == 200 && taken.body["status"] == "stored")
      let again = try await service.post("/v1/evidence", corrected.encoded(), token: service.token)
      #expect(again.status == 200 && again.body["status"] == "duplicate")

      for id in ["1000000906235058", "1000000907182138", "1000000067821817"] {
        let found = try await service.get("/v1/apps/club.omnichess.ios/purchases/\(id)", token: service.token)
        #expect(found.status == 200)
        let result = found.body["results"]?.array?.first?.object
        #expect(result?["environment"] == "Sandbox")
        #expect(result?["purchases"]?.array?.first?.object?["productId"] == "omnichess_monthly_subscription")
        let subscription = result?["subscriptions"]?.array?.first?.object
        #expect(subscription?["statusName"] == "expired")
        #expect(subscription?["renewal"]?.object?["autoRenewStatus"] == 0)
      }
    }
  }

  @Test func `takes single signed payloads and wants to be told an environment that nothing names`() async throws {
    try await RunningService.with { service in
      let bundle = RunningService.app
      let signed = RunningService.now - .hours(1)
      let transaction: JSONObject = [
        "transactionId": "200001", "originalTransactionId": "200001", "bundleId": .string(bundle), "productId": "coins",
        "type": "Consumable", "purchaseDate": .integer(signed.sinceEpoch), "signedDate": .integer(signed.sinceEpoch),
        "environment": "Sandbox",
      ]
      let renewal: JSONObject = [
        "originalTransactionId": "200001", "autoRenewStatus": 1, "signedDate": .integer(signed.sinceEpoch),
        "environment": "Sandbox",
      ]
      let download: JSONObject = [
        "bundleId": .string(bundle), "receiptType": "Sandbox", "appTransactionId": "700001",
        "originalApplicationVersion": "1.0", "receiptCreationDate": .integer(signed.sinceEpoch),
      ]
      for payload in [transaction, renewal, download] {
        let answer = try await service.post("/v1/evidence", try service.pki.sign(payload), token: service.token)
        #expect(answer.status == 200 && answer.body["status"] == "stored", "\(answer)")
      }
      var unnamed = transaction
      unnamed["environment"] = nil
      let jws = try service.pki.sign(unnamed)
      // Without an environment only roots trusted for Production count.
      #expect(try await service.post("/v1/evidence", jws, token: service.token).status == 422)
      #expect(try await service.post("/v1/evidence?environment=Sandbox", jws, token: service.token).status == 200)
      #expect(try await service.post("/v1/evidence?environment=Mars", jws, token: service.token).status == 400)
      let known = try await service.get("/v1/apps/\(bundle)/customers/700001", token: service.token)
      #expect(known.status == 200)
    }
  }

  @Test func `is flagged where many users hand in the same purchases`() async throws {
    try await RunningService.with { service in
      let signed = RunningService.now - .hours(1)
      let transaction: JSONObject = [
        "transactionId": "200001", "originalTransactionId": "200001", "bundleId": .string(RunningService.app),
        "productId": "coins", "type": "Non-Consumable", "purchaseDate": .integer(signed.sinceEpoch),
        "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox",
      ]
      let jws = try service.pki.sign(transaction)
      for user in 1...8 {
        let answer = try await service.post("/v1/evidence?userId=user\(user)", jws, token: service.token)
        #expect(answer.status == 200)
        #expect(answer.body["manyUserIds"] == (user > 6 ? .integer(Int64(user)) : nil), "\(answer)")
      }
      // Whoever names no user is told nothing of the others.
      #expect(try await service.post("/v1/evidence", jws, token: service.token).body["manyUserIds"] == nil)
    }
  }

  @Test func `wants the app's own token, and evidence of that app`() async throws {
    try await RunningService.with { service in
      let body = try service.notification { transaction, data, _ in
        transaction["bundleId"] = "com.example.other"
        data["bundleId"] = "com.example.other"
      }
      #expect(try await service.post("/v1/evidence", body).status == 401)
      #expect(try await service.post("/v1/evidence", body, token: "sy_wrong").status == 401)
      let foreign = try await service.post("/v1/evidence", body, token: service.token)
      #expect(foreign.status == 422 && foreign.body["error"]?.object?["code"] == "wrongBundle")
      let other = try await service.get("/v1/apps/com.example.other/purchases/1", token: service.token)
      #expect(other.status == 403)
      let unknown = try await service.get("/v1/apps/\(RunningService.app)/purchases/1", token: service.token)
      #expect(unknown.status == 404)
      #expect(try await service.get("/nowhere").status == 404)
      #expect(try await service.get("/notifications").status == 405)
    }
  }

  @Test func `finds a customer by any id, line item or account token`() async throws {
    try await RunningService.with { service in
      let id = "2000000900000001"
      #expect(try await service.post("/notifications", try service.notification()).status == 200)
      for name in [id, "1" + id, "7" + id, "7e3f2a5c-0000-4000-8000-000000000001"] {
        let found = try await service.get("/v1/apps/\(RunningService.app)/customers/\(name)", token: service.token)
        #expect(found.status == 200, "\(name)")
        let result = found.body["results"]?.array?.first?.object
        #expect(result?["customers"]?.array?.count == 1)
        #expect(result?["subscriptions"]?.array?.first?.object?["statusName"] == "active")
        #expect(result?["events"]?.array?.first?.object?["rule"] == "N-014")
      }
    }
  }

  @Test func `takes a renewal alone only for a purchase it knows, and the same body for each environment apart`()
    async throws
  {
    try await RunningService.with { service in
      let signed = RunningService.now - .hours(1)
      let renewal: JSONObject = [
        "originalTransactionId": "200777", "autoRenewStatus": 1, "signedDate": .integer(signed.sinceEpoch),
        "environment": "Sandbox",
      ]
      let unknown = try await service.post("/v1/evidence", try service.pki.sign(renewal), token: service.token)
      #expect(unknown.status == 422 && unknown.body["error"]?.object?["code"] == "unknownSubscription")

      let named: JSONObject = [
        "transactionId": "200777", "originalTransactionId": "200777", "bundleId": .string(RunningService.app),
        "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox",
      ]
      let jws = try service.pki.sign(named)
      let wrong = try await service.post("/v1/evidence?environment=Production", jws, token: service.token)
      #expect(wrong.status == 422 && wrong.body["error"]?.object?["code"] == "contradictsEnvelope")
      #expect(try await service.post("/v1/evidence", jws, token: service.token).body["status"] == "stored")
      // The same words said of another environment are another message; said again they are the same.
      #expect(try await service.post("/v1/evidence?environment=Sandbox", jws, token: service.token).status == 200)
      #expect(try await service.post("/v1/evidence", try service.pki.sign(renewal), token: service.token).status == 200)
    }
  }

  @Test func `believes no unsigned envelope that something was bought in Production`() async throws {
    guard let answer = Samples.bytes("v2/omnichess_status_raw_jws.json") else { return }
    try await RunningService.with(app: "club.omnichess.ios") { service in
      var edited = try #require(try JSONReader.read(answer).object)
      edited["bundleId"] = "club.omnichess.ios"
      edited["environment"] = "Production"
      let refused = try await service.post("/v1/evidence", edited.encoded(), token: service.token)
      #expect(refused.status == 422 && refused.body["error"]?.object?["code"] == "environmentUnknown")
    }
  }

  /// Apple's answer about a customer with two periods, as an old back end has it.
  private static func answer(_ change: (inout JSONObject) -> Void = { _ in }) -> [UInt8] {
    let start = RunningService.now - .days(40)
    let rows = (0..<2).map { period -> JSONValue in
      let date = start + .days(Int64(30 * period))
      return [
        "quantity": "1", "product_id": "monthly", "transaction_id": .string("30\(period)"),
        "original_transaction_id": "300", "web_order_line_item_id": .string("40\(period)"),
        "purchase_date_ms": .string("\(date.sinceEpoch)"),
        "original_purchase_date_ms": .string("\(start.sinceEpoch)"),
        "expires_date_ms": .string("\((date + .days(30)).sinceEpoch)"), "is_trial_period": "false",
        "is_in_intro_offer_period": "false", "subscription_group_identifier": "1",
      ]
    }
    let receipt: JSONObject = [
      "receipt_type": "ProductionSandbox", "bundle_id": .string(RunningService.app),
      "request_date_ms": .string("\((RunningService.now - .hours(1)).sinceEpoch)"), "in_app": .array(rows),
    ]
    let pending: JSONObject = [
      "original_transaction_id": "300", "product_id": "monthly", "auto_renew_product_id": "monthly",
      "auto_renew_status": "1",
    ]
    var answer: JSONObject = [
      "status": 0, "environment": "Sandbox", "receipt": .object(receipt), "latest_receipt_info": .array(rows),
      "pending_renewal_info": [.object(pending)],
    ]
    change(&answer)
    return answer.encoded()
  }

  @Test func `takes an answer of verifyReceipt, and every look-up says who told what`() async throws {
    try await RunningService.with { service in
      let taken = try await service.post("/v1/evidence?userId=ada", Self.answer(), token: service.token)
      #expect(taken.status == 200 && taken.body["status"] == "stored", "\(taken)")
      #expect(taken.body["purchases"] == 2 && taken.body["renewals"] == 1)
      #expect(taken.body["seeds"] == [["transactionId": "300", "environment": "Sandbox"]])
      for id in ["300", "301", "401", "ada"] {
        let found = try await service.get("/v1/apps/\(RunningService.app)/purchases/\(id)", token: service.token)
        let result = try #require(found.body["results"]?.array?.first?.object, "\(id)")
        #expect(result["purchases"]?.array?.count == 2)
        let purchase = try #require(result["purchases"]?.array?.first?.object)
        #expect(purchase["confirmed"] == false)
        let provenance = purchase["provenance"]?.object?["purchaseDate"]?.object
        #expect(provenance?["source"] == "verifyReceiptAnswer")
        #expect(provenance?["message"] == taken.body["message"])
        let subscription = result["subscriptions"]?.array?.first?.object
        #expect(subscription?["statusName"] == "active" && subscription?["confirmed"] == false)
        #expect(subscription?["grantsAccess"] == false)
        let renewal = subscription?["renewal"]?.object?["provenance"]?.object?["autoRenewStatus"]?.object
        #expect(renewal?["source"] == "verifyReceiptAnswer")
        #expect(result["accounts"]?.array?.first?.object?["userID"] == "ada")
      }
    }
  }

  @Test func `is one message for each account that is named with it, again the same for the same one`() async throws {
    try await RunningService.with { service in
      let body = Array(#"{"originalTransactionId":"2000000123"}"#.utf8)
      for (query, outcome) in [
        ("", "stored"), ("?userId=ada", "stored"), ("?userId=bob", "stored"), ("?userId=ada", "duplicate"),
        ("?userId=", "duplicate"), ("?environment=Sandbox", "stored"),
      ] {
        let answer = try await service.post("/v1/evidence" + query, body, token: service.token)
        #expect(answer.status == 200 && answer.body["status"] == .string(outcome), "\(query): \(answer)")
        // Nobody said it: Production is only where Apple is asked first.
        let environment: JSONValue = query.contains("environment") ? "Sandbox" : .null
        #expect(answer.body["environment"] == environment)
        #expect(answer.body["seeds"] == [["transactionId": "2000000123", "environment": environment]])
      }
      #expect(try await service.rowCount("seeds") == 2)
      let long = try await service.post(
        "/v1/evidence?userId=\(String(repeating: "a", count: 256))", body, token: service.token)
      #expect(long.status == 422 && long.body["error"]?.object?["code"] == "valueTooLong")
    }
  }

  @Test func `is refused when the body names another user than the request`() async throws {
    try await RunningService.with { service in
      let body = Array(#"{"originalTransactionId":"2000000123","userId":"mallory"}"#.utf8)
      let refused = try await service.post("/v1/evidence?userId=ada", body, token: service.token)
      #expect(refused.status == 400 && refused.body["error"]?.object?["code"] == "userIdContradicts", "\(refused)")
      #expect(!"\(refused)".contains("mallory") && !"\(refused)".contains("ada"))
      #expect(try await service.rowCount("inbox") == 0)
      for query in ["", "?userId=mallory"] {
        #expect(try await service.post("/v1/evidence" + query, body, token: service.token).status == 200)
      }
    }
  }

  /// Two programs could read different users in such a request.
  @Test func `is refused when it names its user twice, in another spelling, or in the body alone beside a blank one`()
    async throws
  {
    try await RunningService.with { service in
      let plain = #"{"originalTransactionId":"2000000123"}"#
      let named = #"{"originalTransactionId":"2000000123","userId":"mallory"}"#
      let spelt = #"{"originalTransactionId":"2000000123","userID":"mallory"}"#
      let escaped = #"{"originalTransactionId":"2000000123","userI\u0044":"mallory"}"#
      for (query, body) in [
        ("?userId=ada&userId=mallory", plain), ("?userId=ada&userId=ada", plain), ("?userid=mallory", plain),
        ("?userId=ada&userID=mallory", plain), ("?userId=", named), ("?userId=%20", named), ("", spelt),
        ("?userId=ada", spelt), ("", escaped),
      ] {
        let refused = try await service.post("/v1/evidence" + query, Array(body.utf8), token: service.token)
        let code = refused.body["error"]?.object?["code"]
        #expect(refused.status == 400 && code == "userIdContradicts", "\(query) \(body): \(refused)")
        #expect(!"\(refused)".contains("mallory"))
      }
      #expect(try await service.rowCount("inbox") == 0)
    }
  }

  /// A signed purchase of the sandbox, with a transaction id beside its originalTransactionId.
  private static func purchase(
    _ service: RunningService, original: String, transaction: String, in environment: String = "Sandbox"
  ) throws -> [UInt8] {
    let signed = RunningService.now - .hours(1)
    return try service.pki.sign([
      "transactionId": .string(transaction), "originalTransactionId": .string(original),
      "bundleId": .string(RunningService.app), "productId": "coins", "type": "Consumable",
      "purchaseDate": .integer(signed.sinceEpoch), "signedDate": .integer(signed.sinceEpoch),
      "environment": .string(environment),
    ])
  }

  /// The environments, purchases and user ids that a look-up by `id` tells.
  private static func told(_ id: String, _ service: RunningService) async throws -> [String] {
    let found = try await service.get("/v1/apps/\(RunningService.app)/purchases/\(id)", token: service.token)
    guard found.status == 200 else { return ["\(found.status)"] }
    return (found.body["results"]?.array ?? []).compactMap(\.object).map { result in
      let originals = (result["purchases"]?.array ?? []).compactMap { $0.object?["originalTransactionId"]?.string }
      let users = (result["accounts"]?.array ?? []).compactMap { $0.object?["userID"]?.string }
      return "\(result["environment"]?.string ?? "?") \(originals) \(users)"
    }
  }

  @Test(arguments: [true, false])
  func `attributes a user id that comes with a bare id where the id is known, whichever comes first`(
    purchaseFirst: Bool
  ) async throws {
    try await RunningService.with { service in
      let bare = Array(#"{"transactionId":"3000002","userId":"ada"}"#.utf8)
      let purchase = try Self.purchase(service, original: "3000001", transaction: "3000002")
      for body in purchaseFirst ? [purchase, bare] : [bare, purchase] {
        let taken = try await service.post("/v1/evidence", body, token: service.token)
        #expect(taken.status == 200 && taken.body["status"] == "stored", "\(taken)")
        // Nobody named an environment: it is the one in which the id is known, or none.
        if body == bare { #expect(taken.body["environment"] == (purchaseFirst ? "Sandbox" : .null)) }
        if body == bare, !purchaseFirst { #expect(try await Self.told("ada", service) == ["404"]) }
      }
      for id in ["ada", "3000001", "3000002"] {
        #expect(try await Self.told(id, service) == [#"Sandbox ["3000001"] ["ada"]"#], "\(id)")
      }
    }
  }

  @Test func `attributes a user id for every kind of evidence, and to that purchase alone`() async throws {
    try await RunningService.with { service in
      let first = try Self.purchase(service, original: "3100001", transaction: "3100001")
      let second = try Self.purchase(service, original: "3100002", transaction: "3100002")
      #expect(try await service.post("/v1/evidence?userId=ada", first, token: service.token).status == 200)
      #expect(try await service.post("/v1/evidence", second, token: service.token).status == 200)
      #expect(try await service.post("/v1/evidence?userId=bob", second, token: service.token).status == 200)
      let notification = try service.notification()
      #expect(try await service.post("/v1/evidence?userId=cleo", notification, token: service.token).status == 200)
      let bare = Array(#"{"originalTransactionId":"3100001","userId":"dora","environment":"Sandbox"}"#.utf8)
      #expect(try await service.post("/v1/evidence", bare, token: service.token).status == 200)
      #expect(try await Self.told("3100001", service) == [#"Sandbox ["3100001"] ["ada", "dora"]"#])
      #expect(try await Self.told("bob", service) == [#"Sandbox ["3100002"] ["bob"]"#])
      #expect(try await Self.told("cleo", service).first?.hasSuffix(#"["cleo"]"#) == true)
    }
  }

  /// Nobody asks Apple here, so that what waits says nothing of how long it takes.
  @Test func `that nothing proves is taken however much of it waits for a key, and waits apart`() async throws {
    try await RunningService.with { service in
      let apps = try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session) }
      let app = try #require(apps.first { $0.bundleID == RunningService.app })
      func fill(_ count: Int) async throws {
        try await service.pool.transaction { session throws(DatabaseError) in
          _ = try session.execute("DELETE FROM work")
          for number in 0..<count {
            _ = try session.execute(
              """
              INSERT INTO work (app, environment, kind, subject, created_at, due_at) VALUES
              (\(app.id.number), 2, \(HistoryJobTable.Kind.unverifiedID.rawValue), \("9\(number)"), 1, 9000000000000000)
              """)
          }
        }
      }
      try await fill(HistoryJobTable.mostUnproven)
      let bare = Array(#"{"transactionId":"3300001","environment":"Sandbox"}"#.utf8)
      let purchase = try Self.purchase(service, original: "3300002", transaction: "3300002")
      #expect(try await service.post("/v1/evidence", purchase, token: service.token).status == 200)
      #expect(try await service.post("/v1/evidence", bare, token: service.token).body["status"] == "stored")
      let kinds = try await service.pool.read { session throws(DatabaseError) in
        try session.query("SELECT kind FROM work WHERE subject = '3300001'")
      }
      #expect(try kinds.map { try $0.int("kind") } == [HistoryJobTable.Kind.unverifiedID.rawValue])
    }
  }

  /// Strangers who name no user must not share one.
  @Test func `with a blank user id is nobody's`() async throws {
    try await RunningService.with { service in
      for (number, query, user) in [
        (1, "", #""""#), (2, "", #"" \t\u00a0""#), (3, "?userId=%20", "null"), (4, "?userId=eve", #""""#),
      ] {
        let body = Array(#"{"originalTransactionId":"\#(number)","userId":\#(user)}"#.utf8)
        let answer = try await service.post("/v1/evidence" + query, body, token: service.token)
        #expect(answer.status == 200, "\(answer)")
      }
      let users = try await service.pool.read { session throws(DatabaseError) in
        try session.query("SELECT user_id FROM seeds ORDER BY transaction_id")
      }
      #expect(try users.map { try $0.optionalText("user_id") } == [nil, nil, nil, "eve"])
    }
  }

  @Test func `takes megabytes, and no more than are read`() async throws {
    try await RunningService.with { service in
      let size = (8 << 20) - Self.answer { $0["more"] = "" }.count
      let large = Self.answer { $0["more"] = .string(String(repeating: "a", count: size)) }
      #expect(large.count == 8 << 20)
      let taken = try await service.post("/v1/evidence", large, token: service.token)
      #expect(taken.status == 200 && taken.body["status"] == "stored", "\(taken)")
      #expect(try await service.post("/v1/evidence", large + [0x20], token: service.token).status == 413)
    }
  }
}
