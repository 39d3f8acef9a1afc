@testable import Service

/// In which lane a message is forwarded that is set aside, behind a proxy that names its senders.
@Suite struct `The lane of a message in quarantine` {
  private static let (apple, stranger) = ("17.58.0.1", "203.0.113.9")
  private static let secret = "0123456789abcdef0123456789abcdef"

  /// - Parameter url: of the old back end; where nobody answers, what is put into the outbox stays there.
  private func with(
    _ policy: UnprovenForwarding = .allow, url: String = "http://127.0.0.1:9/",
    _ body: (RunningService) async throws -> Void
  ) async throws {
    let proxy = try #require(Network("127.0.0.1"))
    try await RunningService.with(
      { $0.callers.proxies = [proxy] }, sources: IPAllowlist(networks: [], proxies: [proxy])
    ) { service in
      try await service.register(secret: Self.secret)
      try await service.set(.record, url: url)
      #expect(try await eventuallyForwards(true, service))
      try await service.pool.transaction { session throws(DatabaseError) in
        guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
        _ = try AppTable.add(bundleID: "com.example.other", appAppleID: nil, at: RunningService.now, in: session)
        try UnprovenForwardingTable.set(policy, of: app, at: RunningService.now, in: session)
      }
      #expect(try await eventuallyForwards(policy == .allow, service))
      try await body(service)
    }
  }

  /// Waits until the service, which reads its settings about once a second, does what they say with a stranger's
  /// messages.
  private func eventuallyForwards(_ forwards: Bool, _ service: RunningService) async throws -> Bool {
    try await eventually {
      let body: JSONObject = [
        "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(RunningService.app),
        "password": "not registered yet", "mark": .string("\(ContinuousClock.now)"),
      ]
      return (try await lane(body.encoded(), Self.stranger, service) != nil) == forwards
    }
  }

  /// The lane in which the message waits; nil if it is not forwarded.
  private func lane(
    _ body: [UInt8], _ sender: String, _ service: RunningService, path: String = ""
  ) async throws -> TrustLevel? {
    let from = [(name: "X-Forwarded-For", value: sender)]
    let answer = try await service.post("/notifications" + path, body, headers: from)
    #expect(answer.status == 200, "\(answer)")
    return try await service.pool.transaction { session throws(DatabaseError) in
      let row = try session.query("SELECT class FROM outbox").first
      _ = try session.execute("DELETE FROM outbox")
      return try row.flatMap { row throws(DatabaseError) in TrustLevel(rawValue: try row.int("class")) }
    }
  }

  private func signed(_ service: RunningService, number: Int) throws -> [[UInt8]] {
    let id = "300000000000000\(number)"
    return [
      try service.notification(id: id) { _, data, _ in data["appAppleId"] = 1 },
      // The transaction inside is of another app than its notification.
      try service.notification(id: id) { transaction, _, _ in transaction["bundleId"] = "com.example.other" },
    ]
  }

  @Test(arguments: [UnprovenForwarding.allow, .deny])
  func `is Apple's if Apple signed it for the app, whoever brings it`(policy: UnprovenForwarding) async throws {
    try await with(policy) { service in
      for (number, sender) in [Self.apple, Self.stranger].enumerated() {
        for body in try signed(service, number: number) {
          #expect(try await lane(body, sender, service) == .proven, "\(sender)")
        }
      }
      // Of another app of the operator's, at this one's URL.
      let other = try service.notification(id: "3000000000000009") { transaction, data, _ in
        (transaction["bundleId"], data["bundleId"]) = ("com.example.other", "com.example.other")
      }
      let expected = policy == .allow ? TrustLevel.unproven : nil
      #expect(try await lane(other, Self.apple, service, path: "/\(RunningService.app)") == expected)
      let third = try service.notification(id: "3000000000000008") { transaction, data, _ in
        (transaction["bundleId"], data["bundleId"]) = ("com.example.other", "com.example.other")
      }
      #expect(try await lane(third, Self.stranger, service, path: "/\(RunningService.app)") == nil)
      let forged = try service.notification(signedBy: try ApplePKI.generate(at: RunningService.now))
      #expect(try await lane(forged, Self.stranger, service) == expected)
    }
  }

  @Test func `is that of claims for a V1 notification from Apple's networks, whose secret may be new`() async throws {
    try await with { service in
      for (sender, expected) in [(Self.apple, TrustLevel.claimed), (Self.stranger, .unproven)] {
        let body: JSONObject = [
          "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(RunningService.app),
          "password": "not registered yet", "mark": .string(sender),
        ]
        let found = try await lane(body.encoded(), sender, service)
        #expect(found == expected, "\(sender)")
      }
      // A developer can name this URL as that of another app: then Apple sends what that app's customers do.
      for (number, bid) in ["com.example.other", "com.example.stranger"].enumerated() {
        let body: JSONObject = [
          "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(bid),
          "password": .string(Self.secret), "mark": .integer(Int64(number)),
        ]
        let found = try await lane(body.encoded(), Self.apple, service, path: "/\(RunningService.app)")
        #expect(found == .unproven, "\(bid)")
      }
    }
  }

  /// With a password beside the payload it could not be forwarded before, and that customer's others waited for it.
  @Test func `has a signed payload alone, whatever a stranger put around it`() async throws {
    let listener = Listener(200)
    try await listener.listening { url in
      try await with(url: url) { service in
        var plain: Set<[UInt8]> = []
        for (number, name) in ["password", "PassWord", "x"].enumerated() {
          let notification = try service.notification(id: "300000000000001\(number)")
          let jws = try #require(JSONReader.read(notification).object?["signedPayload"])
          plain.insert(JSONObject([("signedPayload", jws)]).encoded())
          let wrapped: JSONObject = ["signedPayload": jws, name: ["password": "a"]]
          let answer = try await service.post("/notifications", wrapped.encoded())
          #expect(answer.body["status"] == "stored", "\(answer)")
        }
        let expected = plain
        #expect(await eventually { expected.isSubset(of: Set(listener.requests.map(\.body))) })
      }
    }
  }
}
