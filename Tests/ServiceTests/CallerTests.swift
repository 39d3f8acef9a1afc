import HTTPServer
import Testing

@testable import Service

private func peer(_ text: String) -> PeerAddress { PeerAddress(numeric: text) ?? .unknown }
private func network(_ text: String) throws -> Network { try #require(Network(text)) }

@Suite struct `Whom a request is counted as` {
  private func callers() throws -> Callers {
    var callers = Callers()
    callers.backEnds = [try network("192.0.2.0/24")]
    callers.proxies = [try network("10.0.0.0/8")]
    return callers
  }

  @Test(arguments: [
    ("17.1.2.3", CallerClass.apple), ("192.0.2.9", .known), ("10.0.0.1", .known), ("203.0.113.9", .anonymous),
    ("2001:db8::1", .anonymous), ("nothing", .anonymous),
  ])
  func `is decided by the address when a connection is accepted`(address: String, caller: CallerClass) throws {
    #expect(try callers().connection(of: peer(address)) == caller)
  }

  @Test(arguments: [
    ("10.0.0.1", "17.1.2.3", CallerClass.apple), ("10.0.0.1", "203.0.113.9", .anonymous),
    ("10.0.0.1", "17.1.2.3, 203.0.113.9", .anonymous), ("10.0.0.1", "garbage", .anonymous),
    ("203.0.113.9", "17.1.2.3", .anonymous), ("10.0.0.1", "192.0.2.1, 10.1.1.1", .known),
  ])
  func `is decided by the client behind a proxy`(address: String, header: String, caller: CallerClass) throws {
    let head = HTTPRequestHead(
      method: "POST", path: "/", rawTarget: "/", headers: ["X-Forwarded-For": header], peer: peer(address))
    let callers = try callers()
    #expect(callers.caller(at: callers.client(of: head).bytes) == caller)
  }
}

@Suite struct `The slots for calls of verifyReceipt` {
  private let slots = CallSlots(total: 16, mostOfAddress: 5, rate: Rate(burst: 100, perSecond: 1))

  @Test func `cannot be held by one address`() {
    for _ in 0..<5 { #expect(slots.take(for: .anonymous, at: peer("203.0.113.9")) == nil) }
    #expect(slots.take(for: .anonymous, at: peer("203.0.113.9")) == "tooManyFromAddress")
    #expect(slots.take(for: .anonymous, at: peer("203.0.113.8")) == nil)
    slots.give(back: .anonymous, at: peer("203.0.113.9"))
    #expect(slots.take(for: .anonymous, at: peer("203.0.113.9")) == nil)
  }

  @Test func `cannot be held by strangers alone`() {
    for n in 0..<8 { #expect(slots.take(for: .anonymous, at: peer("203.0.113.\(n)")) == nil) }
    #expect(slots.take(for: .anonymous, at: peer("203.0.113.9")) == "overloaded")
    for _ in 0..<4 { #expect(slots.take(for: .known, at: nil) == nil) }
  }

  @Test func `are given to one address at a rate`() {
    for _ in 0..<100 {
      #expect(slots.take(for: .anonymous, at: peer("203.0.113.9")) == nil)
      slots.give(back: .anonymous, at: peer("203.0.113.9"))
    }
    #expect(slots.take(for: .anonymous, at: peer("203.0.113.9")) == "tooFastFromAddress")
    #expect(slots.take(for: .anonymous, at: peer("203.0.113.8")) == nil)
  }
}

@Suite struct `A refusal by HTTP` {
  @Test func `is a metric with its reason`() async throws {
    try await RunningService.with(sources: AllowedSources(networks: AllowedSources.apple, proxies: [])) { service in
      #expect(try await service.post("/v1/evidence", [1], token: "wrong").status == 401)
      #expect(try await service.post("/v1/evidence", [1]).status == 401)
      #expect(try await service.post("/notifications", [1]).status == 403)
      #expect(try await service.post("/nothing", [1]).status == 404)
      #expect(try await service.post("/readyz", [1]).status == 405)
      #expect(try await service.get("/v1/apps/com.example.other/purchases/1", token: service.token).status == 403)
      let metrics = try await service.text("/metrics").text
      for detail in ["unknownToken", "noToken", "sourceNotAllowed", "notFound", "methodNotAllowed", "wrongApp"] {
        let line = "switchyard_http_refused_total{reason=\"notAdmitted\",detail=\"\(detail)\"} 1\n"
        #expect(metrics.contains(line), "\(detail)")
      }
      #expect(metrics.contains("switchyard_http_connections{caller=\"anonymous\"} "))
      #expect(metrics.contains("switchyard_http_body_bytes{caller=\"apple\"} 0"))
    }
  }
}
