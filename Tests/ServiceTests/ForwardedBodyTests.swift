@testable import Service

/// What the old back end hears of V1 notifications, which Apple signs by nothing but the shared secret in them.
@Suite struct `A forwarded V1 body` {
  private static let secret = "0123456789abcdef0123456789abcdef"

  /// Ways to write one body, that only whoever keeps its bytes can tell apart.
  private static let spellings: [@Sendable (String) -> String] = [
    { $0 }, { $0.replacing(":", with: " : ") }, { $0.replacing(",", with: ",\n  ") }, { " \t" + $0 }, { $0 + "\r\n" },
    { $0.replacing("Sandbox", with: "\\u0053andbox") }, { $0.replacing("password", with: "p\\u0061ssword") },
    { $0.replacing("DID_RENEW", with: "DID\\u005FRENEW") }, { $0.replacing("{}", with: "{ }") },
    { $0.replacing("\"x\":1", with: "\"x\":1.50") }, { $0.replacing("\"x\":1", with: "\"x\":1E3") },
    { $0.replacing("\"x\":1", with: "\"x\":\"a\\/b\"") }, { $0.replacing("\"x\":1", with: "\"x\":\"é\\u00e9\"") },
    { $0.replacing("\"x\":1", with: "\"x\":null") }, { $0.replacing("\"x\":1", with: "\"x\":[1, 2 ,{\"y\" :true}]") },
    { $0.replacing("\"x\":1", with: "\"x\":\"\\\"password\\\":\"") },
    { $0.replacing("\"x\":1", with: "\"x\":{\"password\":\"decoy\"}") },
    { $0.replacing("\"x\":1", with: "\"Password\":\"decoy\"") },
    { $0.replacing("\"x\":1", with: "\"x\":123456789012345678901234567890") },
    { $0.replacing("\"x\":1", with: "\"\\u0078\":\"\\ud83d\\ude00\"") },
  ]

  /// Each with the right secret, one that is not registered, and none.
  private static func bodies(_ first: Int = 500) -> [[UInt8]] {
    [#""password":"\#(secret)","#, #""password":"not registered","#, ""].enumerated().flatMap { place, password in
      spellings.enumerated().map { number, spell in
        let body =
          #"{"notification_type":"DID_RENEW",\#(password)"environment":"Sandbox","bid":"\#(RunningService.app)","#
          + #""x":1,"original_transaction_id":\#(first + 100 * place + number),"unified_receipt":{"environment":"Sandbox","#
          + #""status":0,"latest_receipt_info":[],"pending_renewal_info":[]},"y":{}}"#
        return Array(spell(body).utf8)
      }
    }
  }

  private func post(_ bodies: [[UInt8]], to service: RunningService) async throws {
    for body in bodies {
      let answer = try await service.post("/notifications", body)
      #expect(answer.status == 200, "\(String(decoding: body, as: UTF8.self)): \(answer)")
    }
  }

  @Test func `is what was posted, byte for byte, at once`() async throws {
    let (listener, bodies) = (Listener(200), Self.bodies())
    #expect(Set(bodies).count == 60)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(nil, url: url)
        try await service.register(secret: Self.secret)
        // As soon as the service knows the secret.
        let isKnown = try await eventually {
          try await service.post("/notifications", bodies[0]).body["status"] != "quarantined"
        }
        #expect(isKnown)
        try await post(bodies, to: service)
        #expect(await eventually(within: .seconds(60)) { Set(listener.requests.map(\.body)).count == 60 })
        #expect(Set(listener.requests.map(\.body)) == Set(bodies))
        #expect(try await service.rowCount("inbox") == 20)
      }
    }
  }

  @Test func `is so after an outage and a replay, too`() async throws {
    let (down, up, bodies) = (Listener(503), Listener(200), Self.bodies(1_000))
    try await up.listening { url in
      try await down.listening { other in
        let clock = SteppedClock(at: RunningService.now)
        try await RunningService.with(clock: clock.clock) { service in
          try await service.set(nil, url: other)
          try await service.register(secret: Self.secret)
          try await post(bodies, to: service)
          #expect(await eventually(within: .seconds(60)) { !down.requests.isEmpty })
          try await service.set(nil, url: url)
          // What the secret vouches for waits for its next attempt, the rest was given up.
          let isSent = try await eventually(within: .seconds(120)) {
            clock.advance(by: .minutes(5))
            try await service.pool.transaction { session throws(DatabaseError) in
              var selection = OutboxTable.Selection()
              selection.states = [.dead]
              let dead = try OutboxTable.rows(selection, limit: 1_000, in: session).map(\.sequence)
              _ = try OutboxTable.replay(dead, at: clock.clock.now(), in: session)
            }
            return Set(up.requests.map(\.body)).count == 60
          }
          #expect(isSent)
          #expect(Set(up.requests.map(\.body)) == Set(bodies))
        }
      }
    }
  }

  /// Else a back end would hear what another app's customers do.
  @Test func `of another app goes to nobody, unless Apple's networks sent it; one that names the app goes to it`()
    async throws
  {
    let proxy = try #require(Network("127.0.0.1"))
    let (listener, other) = (Listener(200), "com.example.the-other")
    try await listener.listening { url in
      try await RunningService.with(sources: IPAllowlist(networks: [], proxies: [proxy])) { service in
        try await service.set(nil, url: url)
        try await service.pool.transaction { [master = service.master] session throws(DatabaseError) in
          let app = try AppTable.add(bundleID: other, appAppleID: 2, at: RunningService.now, in: session)
          try CredentialTable.put(
            Array(Self.secret.utf8), kind: .sharedSecret, name: "other", issuer: "", of: app,
            sealedWith: Keyring(current: master), at: RunningService.now, in: session)
        }
        func post(_ body: [UInt8], from sender: String, to app: String) async throws -> JSONValue? {
          let from = [(name: "X-Forwarded-For", value: sender)]
          return try await service.post("/notifications/\(app)", body, headers: from).body["status"]
        }
        let stranger = "203.0.113.9"
        let others = Self.bodies(2_000).map {
          Array(String(decoding: $0, as: UTF8.self).replacing(RunningService.app, with: other).utf8)
        }
        // As soon as the service knows the other app and its secret.
        let isKnown = try await eventually { try await post(others[0], from: stranger, to: other) != "quarantined" }
        #expect(isKnown)
        #expect(try await post(others[1], from: stranger, to: RunningService.app) == "quarantined")
        #expect(try await post(others[2], from: "17.58.0.1", to: RunningService.app) == "quarantined")
        // The account's secret, which is registered for the other app alone.
        let named = Self.bodies(3_000)[0]
        #expect(try await post(named, from: stranger, to: RunningService.app) == "quarantined")
        #expect(await eventually { Set(listener.requests.map(\.body)) == [others[2], named] })
        // In the stage `legacy` it is passed through.
        try await service.set(.legacy, url: url)
        let isPassed = try await eventually {
          try await post(Self.bodies(4_000)[0], from: stranger, to: RunningService.app) == "passedThrough"
        }
        #expect(isPassed)
        #expect(try await post(others[4], from: "17.58.0.1", to: RunningService.app) == "passedThrough")
        #expect(!listener.requests.map(\.body).contains(others[1]))
      }
    }
  }

  @Test func `in which a shared secret stands a second time is set aside, and no table holds the secret`() async throws
  {
    try await RunningService.with { service in
      try await service.register(secret: Self.secret)
      let texts = [
        ("auto_renew_product_id", Self.secret), ("auto_renew_product_id", "x\(Self.secret)"), (Self.secret, "key"),
      ]
      let isKnown = try await eventually {
        try await service.post("/notifications", Self.bodies()[0]).body["status"] != "quarantined"
      }
      #expect(isKnown)
      for (number, (key, value)) in texts.enumerated() {
        var body = try #require(try JSONReader.read(Self.bodies(3_000 + number)[0]).object)
        body[key] = .string(value)
        let answer = try await service.post("/notifications", body.encoded())
        #expect(answer.body["status"] == "quarantined", "\(key)")
      }
      // Escapes hide nothing.
      let escaped = String(decoding: Self.bodies(3_100)[0], as: UTF8.self)
        .replacing("\"x\":1", with: "\"auto_renew_product_id\":\"\\u0030\(Self.secret.dropFirst())\"")
      #expect(try await service.post("/notifications", Array(escaped.utf8)).body["status"] == "quarantined")
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.reasons(in: session).map { "\($0.code) \($0.count)" }
      }
      #expect(kept.contains("secretRepeated 4"), "\(kept)")
      try await service.pool.read { session throws(DatabaseError) in
        for table in try session.query(
          "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()")
        {
          for row in try session.query("SELECT * FROM \(identifier: try table.text("name"))") {
            for case .bytes(let bytes) in row.values where bytes.firstRange(of: Array(Self.secret.utf8)) != nil {
              Issue.record("\(try table.text("name"))")
            }
          }
        }
      }
    }
  }
}
