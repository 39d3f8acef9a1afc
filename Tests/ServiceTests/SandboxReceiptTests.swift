/// A receipt that Apple made in the sandbox in 2015, handed in as one of Production.
@Suite struct `A receipt of the sandbox` {
  private static let app = "com.mbaasy.ios.demo"
  private static let original = "1000000180636226"
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"

  /// The sample without the unsigned line that says where it is from; nil where there are no samples.
  private static func receipt() throws -> String? {
    guard let sample = Samples.bytes("receipts/ios6_mbaasy_yearly_2015.b64") else { return nil }
    let list = try #require(Base64.standard.decode(Array(sample.filter { $0 > 0x20 })))
    let lines = String(decoding: list, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let kept = lines.filter { !$0.contains("\"environment\"") }
    #expect(kept.count == lines.count - 1)
    return String(decoding: Base64.standard.encode(Array(kept.joined(separator: "\n").utf8)), as: UTF8.self)
  }

  /// The purchases that a look-up by the id shows, and how its subscriptions stand.
  private func found(_ id: String, _ service: RunningService) async throws -> (purchases: [JSONObject], access: Bool) {
    let answer = try await service.get("/v1/apps/\(Self.app)/customers/\(id)", token: service.token)
    let results = (answer.body["results"]?.array ?? []).compactMap(\.object)
    let subscriptions = results.flatMap { $0["subscriptions"]?.array ?? [] }.compactMap(\.object)
    return (
      results.flatMap { $0["purchases"]?.array ?? [] }.compactMap(\.object),
      subscriptions.contains { $0["grantsAccess"] == true }
    )
  }

  @Test func `in a V1 body that says PROD proves nothing there`() async throws {
    guard let receipt = try Self.receipt() else { return }
    try await RunningService.with(app: Self.app) { service in
      try await service.register(secret: Self.secret)
      let body: JSONObject = [
        "notification_type": "INITIAL_BUY", "bid": .string(Self.app), "password": .string(Self.secret),
        "environment": "PROD", "latest_receipt": .string(receipt),
      ]
      #expect(try await service.post("/notifications", body.encoded()).body["status"] == "stored")
      let (purchases, access) = try await found(Self.original, service)
      #expect(!purchases.isEmpty && purchases.allSatisfy { $0["confirmed"] == false } && !access, "\(purchases)")
      #expect(try await service.rowCount("claimed_changes") == 1, "Apple is asked")
    }
  }

  @Test func `in an answer that is handed in proves nothing, and gives nobody a purchase`() async throws {
    guard let receipt = try Self.receipt() else { return }
    try await RunningService.with(app: Self.app) { service in
      let body: JSONObject = [
        "status": 0, "environment": "Production", "latest_receipt": .string(receipt),
        "receipt": [
          "bid": .string(Self.app), "transaction_id": "1", "original_transaction_id": "1", "product_id": "yearly",
          "purchase_date_ms": "1440000000000",
        ],
      ]
      let taken = try await service.post("/v1/evidence?userId=mallory", body.encoded(), token: service.token)
      #expect(taken.status == 200, "\(taken)")
      let (purchases, access) = try await found(Self.original, service)
      #expect(!purchases.isEmpty && purchases.allSatisfy { $0["confirmed"] == false } && !access, "\(purchases)")
      #expect(try await service.rowCount("user_ids") == 0)
    }
  }

  @Test func `that still says so is refused as one of Production`() async throws {
    guard let sample = Samples.bytes("receipts/ios6_mbaasy_yearly_2015.b64") else { return }
    try await RunningService.with(app: Self.app) { service in
      let refused = try await service.post("/v1/evidence?environment=Production", sample, token: service.token)
      #expect(refused.status == 422 && refused.body["error"]?.object?["code"] == "environmentUnknown", "\(refused)")
      #expect(try await service.rowCount("inbox") == 0)
      #expect(
        try await service.post("/v1/evidence?environment=Sandbox", sample, token: service.token).status == 200)
    }
  }
}
