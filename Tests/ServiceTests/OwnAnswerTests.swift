/// verifyReceipt answered by us, over HTTP.
@Suite struct `Our own answer` {
  @Test func `equals the simulator's for every customer, field by field`() async throws {
    let world = AnsweredWorld.world(customers: 60)
    try await AnsweringService.with(world, stage: "complete") { service in
      var (compared, rows) = (0, 0)
      for customer in AnsweredWorld.buyers(world) {
        let request = AnsweringService.request(
          try service.receipt(of: customer), excludesOld: compared.isMultiple(of: 4))
        let first = try await service.ask(request)
        #expect(first.source == "lookup", "\(customer) \(first.body["status"] ?? .null)")
        let second = try await service.ask(request)
        #expect(second.source == "ledger", "\(customer)")
        let apple = try await service.apple(request)
        for ours in [first, second] { #expect(AnsweredWorld.differences(ours.body, apple) == [], "\(customer)") }
        compared += 1
        rows += apple["latest_receipt_info"]?.array?.count ?? 0
      }
      #expect(compared >= 50 && rows > 250, "\(compared) customers, \(rows) rows")
      let metrics = try await service.metrics()
      for source in ["ledger", "lookup"] {
        let labels = "app=\"\(AnsweringService.app)\",environment=\"Sandbox\",source=\"\(source)\""
        #expect(metrics.contains("switchyard_verify_receipt_responses_total{\(labels)} \(compared)"))
      }
    }
  }

  @Test func `is Apple's until the customer is known, in live`() async throws {
    let world = AnsweredWorld.world()
    let customer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "live") { service in
      let request = AnsweringService.request(try service.receipt(of: customer))
      let first = try await service.ask(request)
      #expect(first.source == "apple" && first.code == 0)
      #expect(AnsweredWorld.differences(first.body, try await service.apple(request)) == [])
      #expect(
        try await service.metrics().contains(
          "switchyard_verify_receipt_stale_total{app=\"\(AnsweringService.app)\",environment=\"Sandbox\",reason=\"noHistory\"} 1"
        ))
      // Its ids are seeds: Apple's history is asked for by itself.
      let isKnown = try await eventually(within: .seconds(90)) { try await service.ask(request).source == "ledger" }
      #expect(isKnown)
    }
  }

  @Test func `waits for news that are on their way`() async throws {
    let world = AnsweredWorld.world(days: 120)
    let customer = try #require(
      AnsweredWorld.buyers(world).first { id in
        world.state(of: id).subscriptions.contains { $0.status == 1 && $0.renewal.willRenew }
      })
    try await AnsweringService.with(world, stage: "complete") { service in
      #expect(try await service.ask(AnsweringService.request(try service.receipt(of: customer))).source == "lookup")
      // It renews, and no notification of it comes; the old receipt has the old end.
      let old = AnsweringService.request(try service.receipt(of: customer))
      try await service.advance(.days(40))
      let answer = try await service.ask(old)
      #expect(answer.source == "lookup", "\(service.reasons) \(answer.body)")
      #expect(AnsweredWorld.differences(answer.body, try await service.apple(old)) == [])
    }
  }

  @Test func `calls nothing ended while Apple cannot be asked and nothing was heard`() async throws {
    let world = AnsweredWorld.world(days: 120)
    let customer = try #require(
      AnsweredWorld.buyers(world).first { id in
        world.state(of: id).subscriptions.contains { $0.status == 1 && $0.renewal.willRenew }
      })
    try await AnsweringService.with(world, stage: "complete", isAsking: false) { service in
      let request = AnsweringService.request(try service.receipt(of: customer))
      // Its periods run, or their end is not known here: nothing is called ended.
      let running = try await service.ask(request)
      #expect(running.source == "receipt" || running.code == 21_005)
      try await service.advance(.days(400))
      let ended = try await service.ask(request)
      #expect(ended.code == 21_005 && ended.source == nil)
      #expect(ended.body == ["environment": "Sandbox", "status": 21_005])
    }
  }

  @Test func `of a receipt without purchases is empty in complete, and Apple's before`() async throws {
    let world = AnsweredWorld.world(customers: 30)
    let nobody = try #require(world.customers().first { world.state(of: $0).legacyPurchases.isEmpty })
    for stage in ["complete", "live"] {
      try await AnsweringService.with(world, stage: stage) { service in
        let request = AnsweringService.request(try service.receipt(of: nobody))
        let answer = try await service.ask(request)
        #expect(answer.source == (stage == "live" ? "apple" : "receipt"))
        #expect(answer.code == 0 && answer.body["receipt"]?.object?["in_app"] == .array([]))
        #expect(try await service.metrics().contains("reason=\"noPurchases\"} 1"))
      }
    }
  }

  @Test func `has the statuses of Apple's for what is wrong with a request`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: "complete") { service in
      let receipt = try service.receipt(of: buyer)
      let forged = String(receipt.dropLast(24)) + String(repeating: "A", count: 24)
      let foreign = String(
        decoding: try world.state(of: buyer).receipt.encoded(signedBy: ReceiptPKI.stranger(at: world.now)),
        as: UTF8.self)
      let cases: [(String, JSONObject, Int64)] = [
        ("no receipt", [:], 21_002), ("no base64", ["receipt-data": "?!"], 21_002),
        ("something else", ["receipt-data": "AAAA"], 21_002),
        ("a JWS", ["receipt-data": "eyJhbGciOiJFUzI1NiJ9.e30.AAAA"], 21_002),
        (
          "cut off",
          ["receipt-data": .string(String(receipt.prefix(400))), "password": .string(AnsweringService.secret)], 21_002
        ),
        ("forged", AnsweringService.request(forged), 21_003),
        ("signed by another", AnsweringService.request(foreign), 21_003),
        ("wrong secret", AnsweringService.request(receipt, password: String(repeating: "0", count: 32)), 21_004),
        ("no secret", AnsweringService.request(receipt, password: nil), 21_004),
      ]
      for (name, body, status) in cases {
        let answer = try await service.ask(body)
        #expect(answer.status == 200 && answer.code == status && answer.source == nil, "\(name): \(answer)")
      }
      #expect(try await service.post(Array("[".utf8), to: service.base + "/sandbox/verifyReceipt").code == 21_002)
      // Nothing of it made Apple be asked, nor was anything kept.
      #expect(try await service.rowCount("work") == 0)
      #expect(try await service.rowCount("inbox") == 0)
      let lines = service.log.records.map { "\($0)" }.joined()
      #expect(!lines.contains(AnsweringService.secret))
    }
  }

  @Test func `sends a sandbox receipt to the sandbox`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "complete") { service in
      try await service.execute("UPDATE flags SET stage = 'complete', epoch = epoch + 1")
      let request = AnsweringService.request(try service.receipt(of: buyer))
      // The registry reads the stage again within seconds.
      let isOurs = try await eventually(within: .seconds(60)) {
        let answer = try await service.ask(request, path: "/verifyReceipt")
        return answer.source == nil && answer.body == ["status": 21_007]
      }
      #expect(isOurs)
    }
  }

  @Test func `tells subscriptions without a password to the app's own clients alone`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: "complete") { service in
      let request = AnsweringService.request(try service.receipt(of: buyer), password: nil)
      #expect(try await service.ask(request, token: service.token).code == 21_004, "off unless an operator says so")
      try await service.execute("INSERT INTO answer_clients (app, policy, changed_at) SELECT id, 'token', 0 FROM apps")
      let isTold = try await eventually(within: .seconds(60)) {
        try await service.ask(request, token: service.token).code == 0
      }
      #expect(isTold)
      #expect(try await service.ask(request).code == 21_004)
      #expect(try await service.ask(request, token: "sy_wrong").code == 21_004)
    }
  }

  @Test func `of a receipt whose account Apple forgot is the receipt alone`() async throws {
    let (world, other) = (AnsweredWorld.world(), AnsweredWorld.world(seed: 4))
    func hasSubscription(_ world: AppStoreWorld, _ buyer: CustomerID) -> Bool {
      !world.state(of: buyer).subscriptions.isEmpty
    }
    let known = try #require(AnsweredWorld.buyers(world).first { hasSubscription(world, $0) })
    let stranger = try #require(AnsweredWorld.buyers(other).first { hasSubscription(other, $0) })
    let receipt = other.state(of: stranger).receipt
    try await AnsweringService.with(world, stage: "complete") { service in
      let request = AnsweringService.request(try service.signed(receipt))
      // With the key of another app Apple says the same of every id.
      _ = try await service.ask(request)
      #expect(try await service.rowCount("work WHERE state = 2") > 0)
      let other = try await service.ask(AnsweringService.request(try service.receipt(of: known)))
      #expect(other.code == 0, "\(other)")
      // What Apple said before it had told of anybody does not count; a day later it is asked again.
      try await service.advance(.hours(26))
      _ = try await service.ask(request)
      let answer = try await service.ask(request)
      #expect(answer.code == 0, "\(answer)")
      #expect(answer.source == "ledger", "\(service.reasons)")
      #expect(answer.body["latest_receipt"] != nil)
      #expect(answer.body["latest_receipt_info"] == nil)
      #expect(answer.body["pending_renewal_info"] == nil)
      #expect(answer.body["receipt"]?.object?["in_app"]?.array?.count == receipt.purchases.count)
    }
  }

  /// The customer's subscription is none of its business.
  @Test(arguments: [nil, "00000000000000000000000000000000"] as [String?])
  func `needs no password for a receipt without subscriptions, and tells that receipt alone`(
    password: String?
  ) async throws {
    let world = AnsweredWorld.world(customers: 40)
    @Sendable func isBoughtOnce(_ purchase: SimulatedReceipt.Purchase) -> Bool {
      purchase.transaction.product.kind == .nonConsumable
    }
    let buyer = try #require(
      AnsweredWorld.buyers(world).map { world.state(of: $0) }.first {
        !$0.subscriptions.isEmpty && $0.legacyPurchases.contains(where: isBoughtOnce)
      })
    try await AnsweringService.with(world, stage: "complete") { service in
      var receipt = buyer.receipt
      receipt.purchases = receipt.purchases.filter(isBoughtOnce)
      let signed = try service.signed(receipt)
      // The first time Apple is asked about the customer.
      let isOurs = try await eventually(within: .seconds(60)) {
        try await service.ask(AnsweringService.request(signed)).source == "ledger"
      }
      #expect(isOurs)
      let answer = try await service.ask(AnsweringService.request(signed, password: password))
      #expect(answer.code == 0, "\(answer)")
      let rows = answer.body["receipt"]?.object?["in_app"]?.array ?? []
      #expect(rows.count == receipt.purchases.count)
      #expect(answer.body["latest_receipt_info"] == nil)
    }
  }

  @Test func `holds no purchase of another customer, and nothing that V1 alone claims`() async throws {
    let world = AnsweredWorld.world()
    let buyers = AnsweredWorld.buyers(world)
    let (one, other) = (try #require(buyers.first), try #require(buyers.last))
    try await AnsweringService.with(world, stage: "complete") { service in
      for customer in [one, other] {
        #expect(try await service.ask(AnsweringService.request(try service.receipt(of: customer))).code == 0)
      }
      let originals = Set(world.state(of: other).purchases.map(\.transaction.originalTransactionID))
      let (own, foreign) = (
        try #require(world.state(of: one).purchases.first?.transaction), try #require(originals.first)
      )
      // Whoever has the shared secret lists both customers' ids in one body, and a period that nobody bought.
      let row: JSONObject = [
        "original_transaction_id": .string(own.originalTransactionID), "transaction_id": "999",
        "product_id": "plus.monthly",
        "web_order_line_item_id": "4711", "purchase_date_ms": .string("\(world.now.sinceEpoch)"),
        "expires_date_ms": .string("\((world.now + .days(90)).sinceEpoch)"), "quantity": "1",
      ]
      var second = row
      second["original_transaction_id"] = .string(foreign)
      second["web_order_line_item_id"] = "4712"
      let body: JSONObject = [
        "notification_type": "DID_RENEW", "password": .string(AnsweringService.secret), "environment": "Sandbox",
        "bid": .string(AnsweringService.app), "auto_renew_status": "true",
        "unified_receipt": [
          "status": 0, "environment": "Sandbox", "latest_receipt_info": .array([.object(row), .object(second)]),
        ],
      ]
      #expect(try await service.post(body.encoded(), to: service.base + "/notifications").status == 200)
      #expect(try await service.rowCount("purchases WHERE source = 30") > 0)
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: one)))
      let told = (answer.body["latest_receipt_info"]?.array ?? []).compactMap {
        $0.object?["original_transaction_id"]?.string
      }
      #expect(answer.code == 0 && !told.isEmpty && originals.isDisjoint(with: told))
      let text = String(decoding: answer.body.encoded(), as: UTF8.self)
      #expect(!text.contains("4711") && !text.contains("4712"))
    }
  }

  @Test func `is given again for a while, until there is news of the customer`() async throws {
    let world = AnsweredWorld.world()
    let buyers = AnsweredWorld.buyers(world).filter { world.state(of: $0).subscriptions.contains { $0.status == 1 } }
    let (one, other) = (try #require(buyers.first), try #require(buyers.last))
    try await AnsweringService.with(world, stage: "complete", { $0.answersKept = .seconds(600) }) { service in
      func date(_ customer: CustomerID) async throws -> String? {
        let answer = try await service.ask(AnsweringService.request(try service.receipt(of: customer)))
        #expect(answer.code == 0)
        return answer.body["receipt"]?.object?["request_date_ms"]?.string
      }
      let first = (one: try await date(one), other: try await date(other))
      #expect(try await date(one) == first.one)
      #expect(try await date(other) == first.other)
      // Something signed of one of them comes in.
      let last = try #require(world.state(of: one).purchases.last)
      let jws = try PayloadSigner(service.running.store.identity.chains.pki).sign(
        last.transaction.payload(signedAt: world.now + .seconds(5)))
      let evidence = try await service.post(jws, to: service.base + "/v1/evidence", token: service.token)
      #expect(evidence.status == 200)
      #expect(try await date(one) != first.one)
      #expect(try await date(other) == first.other)
    }
  }
}
