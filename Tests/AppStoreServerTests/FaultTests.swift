@Suite struct `Faults on demand` {
  private let path = "/inApps/v1/notifications/test"

  @Test func `answer in Apple's way of refusing`() async throws {
    try await House.with(House.quiet()) { house in
      try await house.fault(["fault": "rateLimited", "on": "api", "value": 90_000])
      let limited = try await house.api("POST", path)
      #expect(limited.status == 429 && limited.object["errorCode"] == 4_290_000)
      #expect(limited.headers["Retry-After"] == String(House.start.sinceEpoch + 90_000), "UNIX milliseconds")
      try await house.fault(["fault": "serverError", "on": "api"])
      #expect(try await house.api("POST", path).object["errorCode"] == 5_000_001)
      try await house.fault(["fault": "serverError", "on": "api", "value": 503])
      let gateway = try await house.api("POST", path)
      #expect(gateway.status == 503 && gateway.object.isEmpty)
      try await house.fault(["fault": "unauthorized", "on": "api"])
      #expect(try await house.api("POST", path).status == 401)
      // Once each, and never again.
      #expect(try await house.api("POST", path).object["errorCode"] == 4_040_007)
    }
  }

  @Test(arguments: ["reset", "truncated"])
  func `break off connections`(fault: String) async throws {
    try await House.with(House.quiet()) { house in
      // Always: curl asks again by itself when a kept connection dies before the first byte.
      try await house.fault(["fault": .string(fault), "on": "api", "value": 10, "times": .null])
      do {
        _ = try await house.api("POST", path)
        Issue.record("there was an answer")
      } catch let error as HTTPClientError {
        #expect(error.code == .closed)
      }
      try await house.control("DELETE", "faults")
      #expect(try await house.api("POST", path).status == 404)
    }
  }

  @Test func `spoil answers and let them wait`() async throws {
    try await House.with(House.quiet()) { house in
      try await house.fault(["fault": "malformed", "on": "api"])
      let spoilt = try await house.api("POST", path)
      #expect(spoilt.status == 404 && spoilt.object.isEmpty && !spoilt.body.isEmpty)
      try await house.fault(["fault": "slow", "on": "api", "value": 50])
      #expect(try await house.api("POST", path).status == 404)
      try await house.fault(["fault": "stalled", "on": "api", "value": 50, "times": .null])
      await #expect(throws: HTTPClientError.self) { try await house.api("POST", path) }
    }
  }

  @Test func `limit the calls of an hour`() async throws {
    try await House.with(House.quiet()) { house in
      try await house.fault(["fault": "hourlyLimit", "on": "api", "value": 2])
      var statuses: [Int] = []
      for _ in 0..<3 { statuses.append(try await house.api("POST", path).status) }
      house.clock.advance(by: .hours(1))
      statuses.append(try await house.api("POST", path).status)
      #expect(statuses == [404, 404, 429, 404])
    }
  }

  @Test func `add what Apple may add tomorrow, and move its clock`() async throws {
    try await House.with(House.quiet()) { house in
      let id = try await house.act("buy", ["productId": "coins.100"])[0]
      try await house.fault(["fault": "unknownFields", "on": "api"])
      let answer = try await house.api("GET", "/inApps/v1/transactions/\(id)")
      #expect(answer.object["futureField"] != nil)
      let jws = try #require(answer.object["signedTransactionInfo"]?.string)
      #expect(try House.payload(jws)["futureField"] != nil)
      try await house.fault(["fault": "clockSkew", "on": "api", "value": 86_400_000])
      let ahead = try await house.api("GET", "/inApps/v1/transactions/\(id)")
      let date = try House.payload(ahead.object["signedTransactionInfo"]?.string)["signedDate"]?.integer
      #expect(date == house.running.world.now.sinceEpoch + 86_400_000)
    }
  }

  @Test func `change what the OCSP responder says`() async throws {
    try await House.with(House.quiet()) { house in
      let pki = house.running.store.identity.chains.pki
      let (leaf, issuer) = (pki.leaf.certificate, pki.intermediate.certificate)
      let url = try #require(leaf.ocspURLs.first)
      #expect(url == house.running.productionURL + "/ocsp/intermediate")
      func ask() async throws -> OCSPAnswer.Status {
        let request = try OCSPRequest(for: leaf, issuer: issuer)
        let posted = try await house.call("POST", url, body: request.der)
        let text = String(decoding: Base64.standard.encode(request.der), as: UTF8.self)
        let escaped = text.replacing("/", with: "%2F").replacing("+", with: "%2B").replacing("=", with: "%3D")
        let got = try await house.call("GET", "\(url)/\(escaped)")
        #expect(posted.headers["Content-Type"] == "application/ocsp-response")
        let now = house.clock.clock.now()
        let answers = try [posted, got].map { try request.answer(in: $0.body, at: now).status }
        #expect(answers[0] == answers[1])
        return answers[0]
      }
      #expect(try await ask() == .good)
      try await house.fault(["fault": "revoked", "times": 2])
      #expect(try await ask() == .revoked(at: House.start - .days(1), reason: 1))
      try await house.fault(["fault": "unknown", "times": 2])
      #expect(try await ask() == .unknown)
      for (fault, code) in [
        ("tryLater", OCSPError.Code.unsuccessful), ("stale", .stale), ("foreignSigner", .untrustedResponder),
      ] {
        try await house.fault(["fault": .string(fault), "times": 2])
        do {
          _ = try await ask()
          Issue.record("\(fault) was believed")
        } catch let error as OCSPError {
          #expect(error.code == code, "\(fault)")
        }
        try await house.control("DELETE", "faults")
      }
      #expect(try await house.call("POST", house.running.productionURL + "/ocsp/nobody").status == 404)
    }
  }
}
