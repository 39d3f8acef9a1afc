@testable import Service

/// V1 notifications that have the app's secret: Apple's, and those of everybody who has a copy of the app.
@Suite struct `A V1 notification with the secret` {
  private final class Disk: Sendable {
    let free = Atomic<UInt64>(5_000)
  }

  private static let secret = "0123456789abcdef0123456789abcdef"
  private static let stranger = "203.0.113.9"
  private static let apple = "17.58.0.1"

  private static func body(_ number: Int, rows: Int = 1, renewals: Int = 0) -> [UInt8] {
    let list = (0..<rows).map { row -> JSONValue in
      .object([
        "original_transaction_id": .string("9\(number)"), "transaction_id": .string("9\(number)1\(row)"),
        "web_order_line_item_id": .string("8\(number)1\(row)"), "product_id": "monthly",
        "purchase_date_ms": "1772323200000", "expires_date_ms": "1775001600000",
      ])
    }
    let pending = (0..<renewals).map { number -> JSONValue in
      .object(["original_transaction_id": .string("7\(number)"), "auto_renew_status": "1"])
    }
    let body: JSONObject = [
      "notification_type": "DID_RENEW", "environment": "Sandbox", "password": .string(secret),
      "bid": .string(RunningService.app),
      "unified_receipt": .object([
        "environment": "Sandbox", "status": 0, "latest_receipt_info": .array(list),
        "pending_renewal_info": .array(pending),
      ]),
    ]
    return body.encoded()
  }

  /// Runs `body` behind a proxy that says who the client is.
  private static func behindProxy(
    _ change: (inout Application.Settings) -> Void,
    _ body: (RunningService, _ post: (String, [UInt8]) async throws -> (status: Int, body: JSONObject)) async throws ->
      Void
  ) async throws {
    let proxy = try #require(Network("127.0.0.1"))
    try await RunningService.with(
      {
        $0.callers.proxies = [proxy]
        change(&$0)
      }, sources: IPAllowlist(networks: [], proxies: [proxy])
    ) { service in
      try await service.register(secret: secret)
      try await body(service) { client, bytes in
        try await service.post("/notifications", bytes, headers: [(name: "X-Forwarded-For", value: client)])
      }
    }
  }

  @Test func `is taken at a rate from each address but Apple's and the operator's`() async throws {
    let backEnd = try #require(Network("192.0.2.0/24"))
    try await Self.behindProxy({
      $0.claims.burst = 2
      $0.claims.exempt = IPAllowlist.apple + [backEnd]
    }) { service, post in
      for number in 0..<2 { #expect(try await post(Self.stranger, Self.body(number)).body["status"] == "stored") }
      let refused = try await post(Self.stranger, Self.body(2))
      #expect(refused.status == 429 && refused.body["error"]?.object?["code"] == "tooManyClaims")
      #expect(try await post("203.0.113.8", Self.body(3)).body["status"] == "stored")
      for number in 10..<14 {
        #expect(try await post(Self.apple, Self.body(number)).body["status"] == "stored")
        #expect(try await post("192.0.2.1", Self.body(10 + number)).body["status"] == "stored")
      }
      // What Apple signed is its own, whoever passes it on.
      let signed = try service.notification()
      #expect(try await post(Self.stranger, signed).body["status"] == "stored")
      let metrics = try await service.text("/metrics").text
      #expect(
        metrics.contains("switchyard_messages_rejected_total{kind=\"notifications\",reason=\"tooManyClaims\"} 1\n"))
      // It may be a proxy that nobody named: said once in a minute.
      #expect(try await post(Self.stranger, Self.body(2)).status == 429)
      let lines = service.log.records.filter { $0.message == "V1 notifications refused with 429" }
      #expect(lines.count == 1 && "\(lines[0].metadata)".contains(Self.stranger), "\(lines)")
      #expect("\(lines)".contains("--trusted-proxy"))
    }
  }

  /// It is neither the proxy, which may be this machine, nor Apple.
  @Test func `has nobody's address where a trusted proxy names none, and is held to a rate`() async throws {
    try await Self.behindProxy({ $0.claims.burst = 2 }) { _, post in
      for number in 0..<2 { #expect(try await post("unknown", Self.body(number)).body["status"] == "stored") }
      let refused = try await post("_hidden", Self.body(2))
      #expect(refused.status == 429)
      #expect(try await post(Self.apple, Self.body(2)).body["status"] == "stored")
    }
  }

  /// 300 rows of the secret's holder at most, of which 100 could be Apple's.
  @Test func `has no more rows than a body of Apple's can have`() async throws {
    try await Self.behindProxy({ _ in }) { service, post in
      for (number, rows, renewals, status) in [
        (0, 100, 20, "stored"), (1, 300, 0, "stored"), (2, 301, 0, "quarantined"), (3, 290, 11, "quarantined"),
      ] {
        let answer = try await post(Self.stranger, Self.body(number, rows: rows, renewals: renewals))
        #expect(answer.body["status"] == .string(status), "\(rows) \(renewals) \(answer)")
      }
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.reasons(in: session)
      }
      #expect(kept.map(\.code) == ["tooManyRows"] && kept.map(\.source) == ["legacy"])
      // Their back end can hand it in by its token.
      let evidence = try await service.post("/v1/evidence", Self.body(2, rows: 301), token: service.token)
      #expect(evidence.status == 200, "\(evidence)")
    }
  }

  @Test func `is known as Apple's by its address, and kept as long as Apple's`() async throws {
    let disk = Disk()
    try await Self.behindProxy({
      $0.disk = DiskSpaceMonitor.Settings(headroom: 1_000) { disk.free.load(ordering: .sequentiallyConsistent) }
    }) { service, post in
      disk.free.store(400, ordering: .sequentiallyConsistent)
      let isNoted = await eventually {
        (try? await service.text("/metrics").text.contains("switchyard_disk_free_bytes 400")) == true
      }
      #expect(isNoted)
      let (stranger, apple) = (try await post(Self.stranger, Self.body(1)), try await post(Self.apple, Self.body(2)))
      #expect(stranger.status == 503)
      #expect(apple.body["status"] == "stored")
    }
  }

  @Test func `of a stranger is not kept once the disk has less than its headroom`() async throws {
    let (disk, backEnd) = (Disk(), try #require(Network("192.0.2.0/24")))
    try await Self.behindProxy({
      $0.disk = DiskSpaceMonitor.Settings(headroom: 1_000) { disk.free.load(ordering: .sequentiallyConsistent) }
      $0.callers.backEnds = [backEnd]
    }) { service, post in
      disk.free.store(900, ordering: .sequentiallyConsistent)
      let isNoted = await eventually {
        (try? await service.text("/metrics").text.contains("switchyard_disk_free_bytes 900")) == true
      }
      #expect(isNoted)
      let signed = try service.notification()
      #expect(try await post(Self.stranger, Self.body(1)).status == 503)
      #expect(try await post(Self.apple, Self.body(2)).body["status"] == "stored")
      #expect(try await post("192.0.2.1", Self.body(3)).body["status"] == "stored")
      #expect(try await post(Self.stranger, signed).body["status"] == "stored")
    }
  }

  @Test func `of strangers is kept of an app up to a stock, which nothing else uses`() async throws {
    let backEnd = try #require(Network("192.0.2.0/24"))
    try await Self.behindProxy({
      $0.claimedStock = 1
      $0.callers.backEnds = [backEnd]
    }) { service, post in
      for address in [Self.stranger, "203.0.113.8"] {
        let refused = try await post(address, Self.body(1))
        #expect(refused.status == 429 && refused.body["error"]?.object?["code"] == "claimedStockUsed")
      }
      #expect(try await post(Self.apple, Self.body(2)).body["status"] == "stored")
      #expect(try await post("192.0.2.1", Self.body(3)).body["status"] == "stored")
      #expect(try await post(Self.stranger, service.notification()).body["status"] == "stored")
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("switchyard_unconfirmed_quota_rejected_total{app=\"\(RunningService.app)\"} 2\n"))
      let message = "V1 notifications refused: the daily quota for unconfirmed ones is used up"
      let lines = service.log.records.filter { $0.message == message }
      #expect(lines.count == 1, "\(lines)")
    }
  }

  @Test(arguments: [
    (1 << 10, false, false), (5 << 10, false, true), (31 << 10, false, true), (5 << 10, true, false),
    (31 << 10, true, false), (40 << 10, true, true),
  ])
  func `is read beside the threads that serve Apple from 4 KB on`(size: Int, isSigned: Bool, takesLong: Bool) {
    let padding = String(repeating: "a", count: size)
    let text = isSigned ? #"{"signedPayload":"\#(padding)"}"# : #"{"notification_type":"DID_RENEW","x":"\#(padding)"}"#
    #expect(NotificationRoute.takesLong(Array(text.utf8)) == takesLong)
    // What is written around a signed payload is no less to read.
    if isSigned {
      #expect(NotificationRoute.takesLong(Array(#"{"signedPayload":"a","x":"\#(padding)"}"#.utf8)) == (size > 4 << 10))
    }
  }
}
