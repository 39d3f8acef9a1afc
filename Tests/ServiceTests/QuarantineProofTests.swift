/// Whose quota of quarantine a message counts against: decided by what vouches for it.
@Suite struct `The quota of a message in quarantine` {
  private func kept(
    _ body: [UInt8], _ service: RunningService
  ) async throws -> (source: String, code: String, size: Int) {
    let answer = try await service.post("/notifications", body)
    #expect(answer.body["status"] == "quarantined", "\(answer)")
    return try await service.pool.read { session throws(DatabaseError) in
      let row = try session.query("SELECT source, code, size FROM quarantine").first
      _ = try session.execute("DELETE FROM quarantine")
      guard let row else { throw DatabaseError(.column, "nothing is kept") }
      return (try row.text("source"), try row.text("code"), try row.int("size"))
    }
  }

  /// Three certificates that are none, a signature of zeros.
  private func unsigned(_ payload: JSONObject) -> [UInt8] {
    let header: JSONObject = ["alg": "ES256", "x5c": ["", "", ""]]
    let parts = [header.encoded(), payload.encoded(), [UInt8](repeating: 0, count: 64)]
    let jws = parts.map { String(decoding: Base64.url.encode($0), as: UTF8.self) }.joined(separator: ".")
    return JSONObject([("signedPayload", .string(jws))]).encoded()
  }

  @Test func `is Apple's for what Apple signed alone`() async throws {
    try await RunningService.with { service in
      let stranger = try ApplePKI.generate(at: RunningService.now)
      for environment in ["Moon", "Sandbox"] {
        func odd(_ data: inout JSONObject) {
          data["environment"] = .string(environment)
          if environment == "Sandbox" { data["bundleId"] = "com.example.unregistered" }
        }
        let signed = try service.notification { transaction, data, _ in
          odd(&data)
          if environment == "Sandbox" { transaction["bundleId"] = "com.example.unregistered" }
        }
        #expect(try await kept(signed, service).source == "authentic")
        let forged = try service.notification(signedBy: stranger) { _, data, _ in odd(&data) }
        #expect(try await kept(forged, service).source == "unproven")
        let bare: JSONObject = [
          "notificationType": "DID_RENEW", "signedDate": .integer(RunningService.now.sinceEpoch),
          "data": ["bundleId": "com.example.unregistered", "environment": .string(environment)],
        ]
        #expect(try await kept(unsigned(bare), service).source == "unproven")
      }
    }
  }

  @Test func `is V1's for a V1 body, whatever is wrong with it`() async throws {
    try await RunningService.with { service in
      let secret = "0123456789abcdef0123456789abcdef"
      try await service.register(secret: secret)
      let body: JSONObject = [
        "notification_type": "DID_RENEW", "password": .string(secret), "bid": .string(RunningService.app),
        "environment": "Sandbox", "latest_receipt_info": ["bid": "com.example.other"],
      ]
      let kept = try await kept(body.encoded(), service)
      #expect(kept.source == "legacy" && kept.code == "wrongBundle")
    }
  }

  @Test func `counts what is kept, and padding is not`() async throws {
    try await RunningService.with { service in
      let stranger = try ApplePKI.generate(at: RunningService.now)
      let body = try service.notification(signedBy: stranger)
      var padded = try #require(try JSONReader.read(body).object)
      padded["padding"] = .string(String(repeating: "x", count: 500_000))
      let kept = try await kept(padded.encoded() + [UInt8](repeating: 0x20, count: 100_000), service)
      #expect(kept.size == body.count)
    }
  }
}
