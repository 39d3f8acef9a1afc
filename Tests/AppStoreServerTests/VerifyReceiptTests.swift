@Suite struct `The simulated verifyReceipt` {
  @Test func `says what is wrong with a request by its status alone`() async throws {
    try await House.with(House.quiet()) { house in
      try await house.act("buy", ["productId": "plus.monthly"])
      let receipt = try await house.receipt()
      func status(_ object: JSONObject) -> Int64? { object["status"]?.integer }
      let get = try await house.call("GET", house.running.sandboxURL + "/verifyReceipt")
      #expect(status(get.object) == 21_000)
      let noJSON = try await house.call("POST", house.running.sandboxURL + "/verifyReceipt", body: Array("x".utf8))
      #expect(noJSON.object == ["status": 21_002])
      #expect(try await house.verifyReceipt("bm90IGEgcmVjZWlwdA==") == ["status": 21_002])
      #expect(status(try await house.verifyReceipt(receipt)) == 0)
      #expect(status(try await house.verifyReceipt(receipt, password: "wrong")) == 21_004)
      #expect(status(try await house.verifyReceipt(receipt, password: nil)) == 21_004)
      #expect(try await house.verifyReceipt(receipt, environment: .production) == ["status": 21_007])
      // Another's signature, and one byte changed.
      let stranger = try ReceiptPKI.generate(
        below: CertificateAuthority.root(ReceiptPKI.Blueprint(at: House.start).root, key: .generate(.rsa2048)),
        ReceiptPKI.Blueprint(at: House.start), keys: House.receiptPKI)
      let state = house.running.world.state(of: CustomerID(household: 0))
      let forged = String(decoding: try state.receipt.encoded(signedBy: stranger), as: UTF8.self)
      #expect(try await house.verifyReceipt(forged) == ["status": 21_003])
      // What mail and URLs do to base64.
      let damaged = receipt.replacing("+", with: " ") + "\n"
      #expect(status(try await house.verifyReceipt(damaged)) == 0)
    }
    try await House.with(House.quiet(environment: .production)) { house in
      try await house.act("buy", ["productId": "coins.100"])
      let receipt = try await house.receipt()
      #expect(try await house.verifyReceipt(receipt, environment: .sandbox) == ["status": 21_008])
      let answer = try await house.verifyReceipt(receipt, password: nil, environment: .production)
      #expect(answer["status"] == 0)
      #expect((answer["receipt"]?.object?["download_id"]?.integer ?? 0) > 1 << 53)
    }
  }

  @Test func `tells of now beside what was sent`() async throws {
    try await House.with(House.quiet()) { house in
      let coins = try await house.act("buy", ["productId": "coins.100"])[0]
      try await house.act("buy", ["productId": "plus.monthly"])
      let old = try await house.receipt()
      try await house.advance(days: 70)
      try await house.act("restore")
      let answer = try await house.verifyReceipt(old)
      #expect(answer["receipt"]?.object?["in_app"]?.array?.count == 2)
      #expect(answer["latest_receipt_info"]?.array?.count == 4)
      #expect(answer["pending_renewal_info"]?.array?.count == 1)
      // The ids of the receipt are those before the restore.
      let sent = answer["receipt"]?.object?["in_app"]?.array?.compactMap { $0.object?["transaction_id"]?.string } ?? []
      let now = answer["latest_receipt_info"]?.array?.compactMap { $0.object?["transaction_id"]?.string } ?? []
      #expect(sent.contains(coins) && !now.contains(coins))
      // The newest alone, in the new receipt too, which can be sent in turn.
      let trimmed = try await house.verifyReceipt(old, excludingOld: true)
      #expect(trimmed["latest_receipt_info"]?.array?.count == 1)
      let latest = try #require(trimmed["latest_receipt"]?.string)
      #expect(try await house.verifyReceipt(latest)["receipt"]?.object?["in_app"]?.array?.count == 1)
      // Finished, it is still in the receipt that was sent, and in no new one.
      try await house.act("finish", ["transactionId": .string(coins)])
      let after = try await house.verifyReceipt(old)
      #expect(after["receipt"]?.object?["in_app"]?.array?.count == 2)
      #expect(after["latest_receipt_info"]?.array?.count == 3)
    }
  }

  @Test func `answers receipts of one transaction in iOS 6's form`() async throws {
    try await House.with(House.quiet()) { house in
      let id = try await house.act("buy", ["productId": "plus.monthly"])[0]
      let receipt = try await house.receipt("?transactionId=\(id)")
      let active = try await house.verifyReceipt(receipt)
      #expect(active["status"] == 0 && active["environment"] == nil)
      #expect(active["latest_receipt_info"]?.object?["transaction_id"]?.string == id)
      try await house.act("setAutoRenew", ["on": false])
      try await house.advance(days: 60)
      let expired = try await house.verifyReceipt(receipt)
      #expect(expired["status"] == 21_006 && expired["latest_receipt"] == nil)
      #expect(expired["latest_expired_receipt_info"]?.object?["transaction_id"]?.string == id)
    }
  }

  @Test(arguments: [Int64(21_005), 21_009, 21_010, 21_104])
  func `has troubles of its own on demand`(status: Int64) async throws {
    try await House.with(House.quiet()) { house in
      try await house.act("buy", ["productId": "plus.monthly"])
      let receipt = try await house.receipt()
      try await house.fault(["fault": "status", "on": "verifyReceipt", "value": .integer(status)])
      let answer = try await house.verifyReceipt(receipt)
      #expect(answer["status"]?.integer == status)
      #expect(answer["is_retryable"] == (status == 21_104 ? true : nil))
      #expect(try await house.verifyReceipt(receipt)["status"] == 0)
    }
  }
}
