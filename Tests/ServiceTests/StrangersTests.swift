@testable import Service

/// A small form of `scripts/soak strangers`, which measures how long Apple waits meanwhile.
@Suite struct `Apple's notifications beside strangers` {
  private static let secret = "0123456789abcdef0123456789abcdef"
  private static let stock = 1 << 20

  /// Addresses of one kind each, so many of them as `number` says.
  enum Address: CaseIterable {
    case v4, v6

    func of(_ number: Int) -> String {
      switch self {
      case .v4: "203.0.113.\(number)"
      case .v6: "2001:db8:\(number)::1"
      }
    }
  }

  private static func claim(_ number: Int, customer: String, rows: Int, padding: Int = 0) -> [UInt8] {
    let list = (0..<rows).map { row -> JSONValue in
      [
        "original_transaction_id": .string(customer), "transaction_id": .string("9\(number)1\(row)"),
        "product_id": "monthly", "purchase_date_ms": "1772323200000", "expires_date_ms": "1775001600000",
      ]
    }
    let body: JSONObject = [
      "notification_type": "DID_RENEW", "environment": "Sandbox", "password": .string(secret),
      "bid": .string(RunningService.app), "x": .string(String(repeating: "x", count: padding)),
      "unified_receipt": ["environment": "Sandbox", "status": 0, "latest_receipt_info": .array(list)],
    ]
    return body.encoded()
  }

  /// What strangers send, each kind in turn.
  private static func bodies() -> [[UInt8]] {
    let nested = String(repeating: #"{"password":"#, count: 24) + "1" + String(repeating: "}", count: 24)
    let long = "[" + Array(repeating: nested, count: 1_000).joined(separator: ",") + "]"
    return (0..<12).flatMap { number -> [[UInt8]] in
      [
        Array(#"{"signedPayload":"a.\#(number).c"}"#.utf8), Array("none \(number)".utf8),
        claim(number, customer: "2000000900000777", rows: 100),
        claim(1_000 + number, customer: "2000000900000778", rows: 1, padding: 200_000),
        number % 8 == 0 ? Array(long.utf8) : Array(String(repeating: "[", count: 50_000).utf8),
      ]
    }
  }

  @Test(arguments: Address.allCases)
  func `are all stored, and of theirs no more is kept than is to be`(address: Address) async throws {
    let proxy = try #require(Network("127.0.0.1"))
    try await RunningService.with(
      {
        $0.callers.proxies = [proxy]
        $0.claimedStock = Self.stock
      }, sources: IPAllowlist(networks: [], proxies: [proxy])
    ) { service in
      try await service.register(secret: Self.secret)
      let genuine = try (0..<20).map { try service.notification(id: "20000009000\(10_000 + $0)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (lane, bodies) in Self.bodies().inLanes(8).enumerated() {
          group.addTask {
            for body in bodies {
              let answer = try await service.post(
                "/notifications", body, headers: [(name: "X-Forwarded-For", value: address.of(lane + 1))])
              #expect([200, 400, 429, 503].contains(answer.status), "\(answer)")
            }
          }
        }
        for bodies in genuine.inLanes(4) {
          group.addTask {
            for body in bodies {
              let answer = try await service.post(
                "/notifications", body, headers: [(name: "X-Forwarded-For", value: "17.58.0.1")])
              #expect(answer.body["status"] == "stored", "\(answer)")
            }
          }
        }
        try await group.waitForAll()
      }
      // Signed is stored from anywhere.
      let last = try service.notification(id: "2000000900019999")
      let answer = try await service.post(
        "/notifications", last, headers: [(name: "X-Forwarded-For", value: address.of(1))])
      #expect(answer.body["status"] == "stored")
      let (kept, asked) = try await service.pool.read { session throws(DatabaseError) in
        let kept = try session.query("SELECT CAST(SUM(size) AS SIGNED) FROM inbox WHERE size > 10000")[0].int(0)
        return (kept, try session.query("SELECT COUNT(*) FROM work WHERE kind = 3")[0].int(0))
      }
      #expect(kept > 0 && kept <= Self.stock, "bytes of claims")
      #expect(asked <= 2, "two customers are claimed")
      let lines = Dictionary(grouping: service.log.records.filter { $0.message == "not accepted" }) {
        $0.metadata["reason"].map { "\($0)" } ?? ""
      }
      #expect(!lines.isEmpty && lines.values.allSatisfy { $0.count <= 10 }, "\(lines.mapValues(\.count))")
    }
  }
}

extension Array {
  /// The elements in turn in so many arrays.
  fileprivate func inLanes(_ count: Int) -> [[Element]] {
    (0..<count).map { lane in stride(from: lane, to: self.count, by: count).map { self[$0] } }
  }
}
