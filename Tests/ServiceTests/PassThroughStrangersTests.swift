@testable import Service

/// Behind a proxy, with an old back end that never answers what a stranger marks as slow.
@Suite struct `The stage legacy, open to strangers` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let (apple, stranger) = ("17.58.0.1", "203.0.113.9")

  private func with(_ body: (RunningService, Listener) async throws -> Void) async throws {
    let proxy = try #require(Network("127.0.0.1"))
    let listener = Listener(200) { String(decoding: $0.body, as: UTF8.self).contains("slow") }
    try await listener.listening { url in
      try await RunningService.with(
        {
          $0.callers.proxies = [proxy]
          $0.passThroughWithin = .seconds(600)
          $0.http.limits.answer = .seconds(600)
          $0.http.stopWithin = .milliseconds(0)
        }, sources: IPAllowlist(networks: [], proxies: [proxy])
      ) { service in
        try await service.register(secret: Self.secret)
        try await service.set(.legacy, url: url)
        // The commit refuses the stage that is known until then.
        #expect(try await post(try service.notification(id: "5000000000000001"), Self.stranger, to: service) == 200)
        #expect(listener.requests.count == 1)
        try await body(service, listener)
      }
    }
  }

  private func post(_ body: [UInt8], _ client: String, to service: RunningService) async throws -> Int {
    let from = [(name: "X-Forwarded-For", value: client)]
    return try await service.post("/notifications", body, headers: from).status
  }

  private func legacy(_ mark: String, password: String? = nil) -> [UInt8] {
    var body: JSONObject = [
      "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(RunningService.app),
      "mark": .string(mark),
    ]
    body["password"] = password.map(JSONValue.string)
    return body.encoded()
  }

  /// Sixteen connections to the old back end were everybody's.
  @Test func `keeps no message of Apple's waiting behind those that nothing vouches for`() async throws {
    try await with { service, listener in
      let forger = try ApplePKI.generate(at: RunningService.now)
      let bodies = try (0..<16).map { number in
        if number % 2 == 0 { return legacy("slow \(number)") }
        let forged = try service.notification(id: "60000000000000\(10 + number)", signedBy: forger)
        return Array(#"{"slow":1,"#.utf8) + forged.dropFirst()
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, body) in bodies.enumerated() {
          group.addTask {
            let client = HTTPClient()
            _ = try await client.send(
              ClientRequest(
                method: "POST", url: service.base + "/notifications",
                headers: [("X-Forwarded-For", "203.0.113.\(number)")], body: body, deadline: .seconds(600)))
          }
        }
        // All that may be on their way are, and stay there.
        #expect(await eventually { listener.requests.count == 17 })
        let further = try await post(legacy("nobody's"), Self.stranger, to: service)
        #expect(further == 503)
        #expect(try await post(legacy("a new secret", password: "unknown"), Self.apple, to: service) == 200)
        #expect(try await post(service.notification(id: "5000000000000002"), Self.stranger, to: service) == 200)
        #expect(try await post(legacy("known", password: Self.secret), Self.stranger, to: service) == 200)
        #expect(try await post(legacy("nobody's either"), Self.stranger, to: service) == 503)
        #expect(listener.requests.count == 20)
        group.cancelAll()
      }
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("switchyard_passthrough_rejected_total{class=\"unproven\",reason=\"full\"} 2\n"))
      let lines = service.log.records.filter { $0.message.hasPrefix("pass-through share used up") }
      #expect(lines.count == 1 && lines.first?.metadata["class"] == "unproven")
      #expect(try await service.rowCount("quarantine") == 0)
    }
  }

  @Test func `passes on so many a second of one address, but for Apple`() async throws {
    try await with { service, listener in
      var statuses: [Int] = []
      while statuses.last != 429, statuses.count < 1_000 {
        statuses.append(try await post(legacy("\(statuses.count)"), Self.stranger, to: service))
      }
      #expect(statuses.last == 429 && statuses.dropLast().allSatisfy { $0 == 200 })
      // Slow as the test may be, one more each second.
      #expect(statuses.count > 100 && listener.requests.count == statuses.count)
      #expect(try await post(legacy("other"), "203.0.113.10", to: service) == 200)
      for number in 0..<110 { #expect(try await post(legacy("\(number)"), Self.apple, to: service) == 200) }
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("switchyard_passthrough_rejected_total{class=\"unproven\",reason=\"rate\"} 1\n"))
      let lines = service.log.records.filter { $0.message == "notifications not passed through: refused with 429" }
      #expect(lines.count == 1 && "\(lines[0].metadata)".contains(Self.stranger), "\(lines)")
      #expect("\(lines)".contains("--trusted-proxy"))
    }
  }

  @Test func `sets aside what nothing vouches for, if the app's policy denies it`() async throws {
    try await with { service, listener in
      try await service.pool.transaction { session throws(DatabaseError) in
        guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
        try UnprovenForwardingTable.set(.deny, of: app, at: RunningService.now, in: session)
      }
      // Read again within seconds; a wrong secret has it read at once.
      #expect(try await post(legacy("wrong", password: "wrong"), Self.stranger, to: service) == 200)
      #expect(try await post(legacy("none"), Self.stranger, to: service) == 200)
      let isSetAside = try await eventually(within: .seconds(90)) {
        _ = try await post(legacy("none"), Self.stranger, to: service)
        return try await service.rowCount("quarantine") > 0
      }
      #expect(isSetAside)
      let (heard, kept) = (listener.requests.count, try await service.rowCount("quarantine"))
      let forger = try ApplePKI.generate(at: RunningService.now)
      let forged = try service.notification(id: "6000000000000001", signedBy: forger)
      #expect(try await post(forged, Self.stranger, to: service) == 200)
      #expect(try await post(legacy("another"), Self.stranger, to: service) == 200)
      #expect(try await service.rowCount("quarantine") == kept + 2)
      #expect(listener.requests.count == heard)
      #expect(try await post(legacy("from Apple"), Self.apple, to: service) == 200)
      #expect(try await post(legacy("known", password: Self.secret), Self.stranger, to: service) == 200)
      #expect(try await post(service.notification(id: "5000000000000003"), Self.stranger, to: service) == 200)
      #expect(listener.requests.count == heard + 3)
      #expect(try await service.rowCount("outbox") == 0)
    }
  }
}
