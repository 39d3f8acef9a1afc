/// What somebody can do who knows the shared secret, which every old copy of the app carries.
@Suite struct `Somebody with the shared secret` {
  private static let victim = "2000000900000001"
  private static let attacker = "2000000900000002"
  private static let secret = "0123456789abcdef0123456789abcdef"

  /// A service to which Apple has told of a subscription of each of two customers.
  private func withTwoCustomers(_ body: (RunningService) async throws -> Void) async throws {
    try await RunningService.with { service in
      try await service.register(secret: Self.secret)
      for id in [Self.victim, Self.attacker] {
        let told = try await service.post("/notifications", service.notification(id: id))
        #expect(told.body["status"] == "stored")
      }
      try await body(service)
    }
  }

  private func row(_ original: String, _ transaction: String? = nil, _ more: JSONObject = [:]) -> JSONObject {
    let start = RunningService.now - .days(1)
    var row: JSONObject = [
      "quantity": "1", "product_id": "monthly", "transaction_id": .string(transaction ?? original),
      "original_transaction_id": .string(original), "web_order_line_item_id": .string("1" + original),
      "purchase_date_ms": .string(String((start - .hours(1)).sinceEpoch)),
      "expires_date_ms": .string(String((start + .days(29)).sinceEpoch)),
    ]
    for member in more { row[member.key] = member.value }
    return row
  }

  private func v1(_ type: String, _ rows: [JSONObject], _ top: JSONObject = [:]) -> JSONObject {
    var body: JSONObject = [
      "notification_type": .string(type), "password": .string(Self.secret), "environment": "Sandbox",
      "bid": .string(RunningService.app),
      "unified_receipt": [
        "status": 0, "environment": "Sandbox", "latest_receipt_info": .array(rows.map { .object($0) }),
      ],
    ]
    for member in top { body[member.key] = member.value }
    return body
  }

  /// The result for the sandbox of what is known of the customer of an id.
  private func customer(_ id: String, of service: RunningService) async throws -> JSONObject {
    let path = "/v1/apps/\(RunningService.app)/customers/\(id)"
    let found = try await service.get(path, token: service.token)
    return try #require(found.body["results"]?.array?.first?.object, "\(found)")
  }

  private func originals(_ result: JSONObject, _ list: String = "purchases") -> Set<String> {
    Set((result[list]?.array ?? []).compactMap { $0.object?["originalTransactionId"]?.string })
  }

  @Test func `does not see another customer's purchases by naming both in one body`() async throws {
    try await withTwoCustomers { service in
      let body = v1("DID_RENEW", [row(Self.victim), row(Self.attacker)])
      let taken = try await service.post("/notifications", body.encoded())
      #expect(taken.body["status"] == "stored")
      let result = try await customer(Self.attacker, of: service)
      #expect(originals(result) == [Self.attacker] && originals(result, "subscriptions") == [Self.attacker])
      let link = try #require(result["unconfirmedLinks"]?.array?.first?.object)
      #expect(link["originalTransactionId"]?.string == Self.victim && link["with"]?.string == Self.attacker)
      #expect(link["message"]?.string?.count == 64)
    }
  }

  @Test func `does not see them by an unsigned answer that is handed in as evidence`() async throws {
    try await withTwoCustomers { service in
      let answer: JSONObject = [
        "status": 0, "environment": "Sandbox",
        "receipt": ["bundle_id": .string(RunningService.app), "receipt_type": "ProductionSandbox", "in_app": []],
        "latest_receipt_info": [.object(row(Self.victim)), .object(row(Self.attacker))],
      ]
      let taken = try await service.post("/v1/evidence", answer.encoded(), token: service.token)
      #expect(taken.body["status"] == "stored", "\(taken)")
      let result = try await customer(Self.attacker, of: service)
      #expect(originals(result) == [Self.attacker] && originals(result, "unconfirmedLinks") == [Self.victim])
    }
  }

  /// Both rows are signed, and each customer has a row of their own to copy from the app.
  @Test func `does not see them by two signed rows in one history that is handed in`() async throws {
    try await withTwoCustomers { service in
      var rows: [JSONValue] = []
      for id in [Self.victim, Self.attacker] {
        let body = try service.notification(id: id) { transaction, _, _ in transaction["appTransactionId"] = nil }
        let payload = try #require(try JSONReader.read(body).object?["signedPayload"]?.string)
        let middle = try #require(payload.split(separator: ".").dropFirst().first)
        let bytes = try #require(Base64.url.decode(Array(middle.utf8)))
        let data = try #require(try JSONReader.read(bytes).object?["data"]?.object)
        rows.append(try #require(data["signedTransactionInfo"]))
      }
      let history: JSONObject = ["signedTransactions": .array(rows), "environment": "Sandbox"]
      let taken = try await service.post("/v1/evidence", history.encoded(), token: service.token)
      #expect(taken.status == 200, "\(taken)")
      let result = try await customer(Self.attacker, of: service)
      #expect(originals(result) == [Self.attacker] && originals(result, "unconfirmedLinks") == [Self.victim])
    }
  }

  @Test(arguments: [attacker, "5000"])
  func `does not see them by an id that a row gives to another customer's purchase`(id: String) async throws {
    try await withTwoCustomers { service in
      let taken = try await service.post("/notifications", v1("DID_RENEW", [row(Self.victim, id)]).encoded())
      #expect(taken.body["status"] == "stored")
      for extent in ["customers", "purchases"] {
        let path = "/v1/apps/\(RunningService.app)/\(extent)/\(id)"
        let found = try await service.get(path, token: service.token)
        let result = try #require(found.body["results"]?.array?.first?.object)
        #expect(originals(result).isDisjoint(with: [Self.victim]), "\(extent)")
        #expect(originals(result, "unconfirmedLinks") == [Self.victim], "\(extent)")
      }
    }
  }

  @Test func `does not show a signed purchase as revoked by a CANCEL`() async throws {
    try await withTwoCustomers { service in
      let cancelled = String((RunningService.now - .minutes(5)).sinceEpoch)
      let body = v1(
        "CANCEL", [row(Self.victim, nil, ["cancellation_date_ms": .string(cancelled)])],
        ["cancellation_date_ms": .string(cancelled), "web_order_line_item_id": .string("1" + Self.victim)])
      let taken = try await service.post("/notifications", body.encoded())
      #expect(taken.body["status"] == "stored")
      let result = try await customer(Self.victim, of: service)
      let purchase = try #require(result["purchases"]?.array?.first?.object)
      #expect(purchase["revocationDate"] == nil && purchase["confirmed"] == true)
      let claimed = purchase["unconfirmed"]?.object?["revocationDate"]?.object
      #expect(claimed?["source"] == "notificationV1" && claimed?["value"] != nil)
      let subscription = try #require(result["subscriptions"]?.array?.first?.object)
      #expect(subscription["statusName"] == "active" && subscription["grantsAccess"] == true)
      #expect(subscription["unconfirmed"]?.object?["statusName"] == "revoked")
    }
  }
  /// The members of a list that say `value` under `name`.
  private func said(_ value: String, as name: String, in result: JSONObject, _ list: String = "accounts")
    -> [JSONObject]
  {
    (result[list]?.array ?? []).compactMap(\.object).filter { $0[name]?.string == value }
  }

  @Test func `gives nobody's purchase to an account by a row`() async throws {
    try await withTwoCustomers { service in
      let token = "aaaaaaaa-0000-4000-8000-000000000002"
      let body = v1("DID_RENEW", [row(Self.victim, nil, ["app_account_token": .string(token)])])
      #expect(try await service.post("/notifications", body.encoded()).body["status"] == "stored")
      let result = try await customer(Self.victim, of: service)
      #expect(said(token, as: "appAccountToken", in: result).map { $0["unconfirmed"] } == [true])
      #expect(said("7e3f2a5c-0000-4000-8000-000000000001", as: "appAccountToken", in: result).count == 1)
      #expect(result["transfers"]?.array?.isEmpty == true)
      let found = try await customer(token, of: service)
      #expect(originals(found).isEmpty && originals(found, "unconfirmedLinks") == [Self.victim])
    }
  }

  @Test func `is given nobody's purchase by a user id beside an unsigned answer`() async throws {
    try await withTwoCustomers { service in
      for (user, id) in [("alice", Self.victim), ("mallory", Self.attacker)] {
        let seen = "{\"originalTransactionId\":\"\(id)\",\"userId\":\"\(user)\"}"
        #expect(try await service.post("/v1/evidence", Array(seen.utf8), token: service.token).status == 200)
      }
      let answer: JSONObject = [
        "status": 0, "environment": "Sandbox",
        "receipt": ["bundle_id": .string(RunningService.app), "receipt_type": "ProductionSandbox", "in_app": []],
        "latest_receipt_info": [.object(row(Self.victim)), .object(row(Self.attacker))],
      ]
      for user in ["mallory", "trudy"] {
        let taken = try await service.post("/v1/evidence?userId=\(user)", answer.encoded(), token: service.token)
        #expect(taken.body["status"] == "stored", "\(taken)")
        let found = try await customer(user, of: service)
        #expect(originals(found) == (user == "mallory" ? [Self.attacker] : []), "\(user)")
        #expect(originals(found, "unconfirmedLinks").contains(Self.victim), "\(user)")
      }
      let result = try await customer(Self.victim, of: service)
      #expect(said("mallory", as: "userID", in: result).map { $0["unconfirmed"] } == [true])
      #expect(said("alice", as: "userID", in: result).map { $0["unconfirmed"] } == [nil])
      #expect(result["transfers"]?.array?.isEmpty == true)
      let own = try await customer(Self.attacker, of: service)
      #expect(said("mallory", as: "userID", in: own).map { $0["unconfirmed"] } == [nil])
    }
  }

  @Test func `is told of nobody's purchase without a mark by an unsigned answer that is waited for`() async throws {
    try await withTwoCustomers { service in
      let answer: JSONObject = [
        "status": 0, "environment": "Sandbox",
        "receipt": ["bundle_id": .string(RunningService.app), "receipt_type": "ProductionSandbox", "in_app": []],
        "latest_receipt_info": [.object(row(Self.victim))],
      ]
      let bare = "{\"originalTransactionId\":\"\(Self.victim)\"}"
      for (body, claimed) in [(answer.encoded(), true), (Array(bare.utf8), nil)] as [([UInt8], JSONValue?)] {
        let taken = try await service.post("/v1/evidence?wait=1", body, token: service.token)
        let result = try #require(taken.body["results"]?.array?.first?.object, "\(taken)")
        #expect(originals(result) == [Self.victim] && result["unconfirmed"] == claimed)
      }
    }
  }

  @Test func `has no event shown as Apple's by a CANCEL`() async throws {
    try await withTwoCustomers { service in
      let cancelled = String((RunningService.now - .minutes(5)).sinceEpoch)
      let rows = [row(Self.victim, nil, ["cancellation_date_ms": .string(cancelled)])]
      // As a renewal, so that it tells of no refund itself; then as a CANCEL.
      for type in ["DID_RENEW", "CANCEL"] {
        let body = v1(
          type, rows,
          type == "CANCEL"
            ? ["cancellation_date_ms": .string(cancelled), "web_order_line_item_id": .string("1" + Self.victim)] : [:])
        #expect(try await service.post("/notifications", body.encoded()).body["status"] == "stored")
        let result = try await customer(Self.victim, of: service)
        let events = (result["events"]?.array ?? []).compactMap(\.object)
        let refunds = events.filter { $0["notificationType"] == "REFUND" }
        #expect(refunds.map { $0["unconfirmed"] } == (type == "CANCEL" ? [true] : []), "\(type)")
        #expect(events.contains { $0["source"] == "signedV2" && $0["unconfirmed"] == nil })
      }
    }
  }

  /// No notification told of the period, so its event is read off what Apple signed; each claim names its line and second.
  @Test(arguments: [("PURCHASE", ["INITIAL_BUY"]), ("RENEWAL", ["DID_RENEW", "DID_RECOVER"])])
  func `replaces no event that is read off a signed purchase`(reason: String, types: [String]) async throws {
    try await withTwoCustomers { service in
      let id = "2000000900000003"
      let body = try service.notification(id: id) { transaction, _, _ in
        transaction["transactionReason"] = .string(reason)
      }
      let payload = try #require(try JSONReader.read(body).object?["signedPayload"]?.string)
      let middle = try #require(payload.split(separator: ".").dropFirst().first)
      let bytes = try #require(Base64.url.decode(Array(middle.utf8)))
      let data = try #require(try JSONReader.read(bytes).object?["data"]?.object)
      let history: JSONObject = [
        "signedTransactions": [try #require(data["signedTransactionInfo"])], "environment": "Sandbox",
      ]
      #expect(try await service.post("/v1/evidence", history.encoded(), token: service.token).status == 200)
      func events() async throws -> [JSONObject] {
        try await (customer(id, of: service)["events"]?.array ?? []).compactMap(\.object)
      }
      let before = try await events()
      #expect(before.map { $0["source"] } == ["signedV2"])
      for type in types {
        let taken = try await service.post(
          "/notifications", v1(type, [row(id)], ["auto_renew_product_id": "forged"]).encoded())
        #expect(taken.body["status"] == "stored")
        let after = try await events()
        // That another told of it too is counted, and changes nothing else.
        let signed = after.filter { $0["unconfirmed"] == nil }.map { event -> JSONObject in
          var event = event
          event["tellings"] = nil
          return event
        }
        #expect(signed == before, "\(type)")
        let claimed = after.filter { $0["unconfirmed"] == true }
        #expect(claimed.map { $0["subtype"] } == (type == "DID_RECOVER" ? ["BILLING_RECOVERY"] : []), "\(type)")
        #expect(claimed.allSatisfy { $0["source"] == "notificationV1" })
      }
    }
  }
}
