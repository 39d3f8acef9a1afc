@testable import Adapter

/// Bodies that went through many hands, as ../shared/cases/public-reports has them.
@Suite struct `A V1 body of another shape` {
  private static func read(_ name: String) throws -> DecodedMessage {
    let bytes = try #require(Samples.bytes("../cases/public-reports/\(name).json"))
    return try Bench.legacyEvidence(bytes, of: "com.example.reader", in: name.contains("04b") ? .sandbox : nil)
  }

  /// One object where a list is due, a list in place of one object, and dates of RFC 3339 alone.
  @Test(arguments: [
    ("05-object-where-a-list-is-expected/04b-expired-info-array", "1000000590000009", 1_573_598_178_000, 300_000),
    ("05-object-where-a-list-is-expected/15-lri-object-ios7", "1000000700000002", 1_594_651_978_000, 300_000),
    ("05-object-where-a-list-is-expected/17-inapp-object", "1000000700000002", 1_594_651_978_000, 300_000),
    ("06-rfc3339-dates/06-rfc3339-only", "1000000700000002", 1_594_651_978_000, 300_000),
  ])
  func `is read like Apple's`(name: String, id: String, bought: Int64, length: Int64) throws {
    let reading = try Self.read(name)
    let purchase = try #require(reading.findings.purchases.first { $0.facts.text(.transactionId) == id })
    #expect(purchase.facts.date(.purchaseDate)?.sinceEpoch == bought)
    #expect(purchase.facts.date(.expiresDate)?.sinceEpoch == bought + length)
    #expect(reading.survey.unusableFields == [])
  }

  @Test func `has its only row for a list everywhere in a notification`() throws {
    var body = Bench.v1("DID_RENEW", [])
    let unified: JSONObject = [
      "status": 0, "environment": "Sandbox", "latest_receipt_info": .object(Bench.row("2", 0, 30)),
      "pending_renewal_info": ["original_transaction_id": "1000", "auto_renew_status": "1"],
    ]
    body["unified_receipt"] = .object(unified)
    let reading = try Bench.legacy(body)
    #expect(reading.findings.purchases.map(\.key.originalTransactionID) == ["1000"])
    #expect(reading.findings.renewals.count == 1)
    #expect(reading.survey.isClean)
    var flat = Bench.v1("DID_RENEW", [], [:], ["latest_receipt_info": [.object(Bench.row("2", 0, 30))]])
    flat["unified_receipt"] = nil
    #expect(try Bench.legacy(flat).findings.purchases.map(\.key.line.text) == ["92"])
  }

  @Test(
    arguments: [
      // The row lacks what the top says of it.
      ["cancellation_date_ms": Bench.ms(10)],
      ["cancellation_date_ms": Bench.ms(10), "web_order_line_item_id": "91"],
    ] as [JSONObject])
  func `of CANCEL with one row is about that row`(top: JSONObject) throws {
    for row in [Bench.row("1", 0, 30), Bench.row("1", 0, 30, ["web_order_line_item_id": .null])] {
      let findings = try Bench.legacy(Bench.v1("CANCEL", [row], [:], top)).findings
      #expect(findings.purchases.map { $0.facts.date(.revocationDate) } == [Bench.day(10)])
      #expect(findings.events.map(\.notificationType) == ["REFUND"])
      #expect(findings.events.map(\.transactionID) == ["1"])
    }
  }

  @Test func `names a renewal of which nothing tells whose it is`() throws {
    let body = Bench.v1(
      "DID_RENEW", [Bench.row("1", 0, 30)], ["original_transaction_id": .null, "product_id": "another"])
    let reading = try Bench.legacy(body)
    #expect(reading.survey.unusableFields == ["unified_receipt.pending_renewal_info[].original_transaction_id"])
  }

  /// What Apple is told to be learned was learned, or names an id to ask by.
  @Test func `is set aside if no purchase can be read and no id is named`() throws {
    var body = Bench.v1("DID_RENEW", [])
    body["unified_receipt"] = ["status": 0, "environment": "Sandbox", "latest_receipt_info": []]
    let refusal = #expect(throws: MessageError.self) { try Bench.legacy(body) }
    #expect(refusal?.kind == .legacy)
    #expect(refusal?.code == "missingIdentity")
    body["original_transaction_id"] = 1_000
    #expect(try Bench.legacy(body).findings.claimedOriginals == ["1000"])
  }

  @Test func `of Look Up Order ID says that the order is none of the app's`() throws {
    let bytes = try #require(Samples.bytes("../cases/public-reports/07-order-answer-misread/order-invalid.json"))
    let refusal = #expect(throws: MessageError.self) { try Bench.legacyEvidence(bytes) }
    #expect(refusal?.detail.contains("Look Up Order ID") == true)
    let order = try #require(Samples.bytes("../cases/public-reports/07-order-answer-misread/order.json"))
    let root = try #require(Samples.bytes("../cases/public-reports/07-order-answer-misread/root.der"))
    let conversion = Conversion(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: try RootCertificate.read(root))),
      receipts: ReceiptReader())
    let converted = try conversion.read(order, now: Bench.now)
    #expect(converted.survey.unknownFields == [])
    #expect(!converted.findings.purchases.isEmpty)
  }
}
