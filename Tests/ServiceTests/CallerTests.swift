@testable import Service

private func peer(_ text: String) -> PeerAddress { PeerAddress(numeric: text) ?? .unknown }
private func network(_ text: String) throws -> Network { try #require(Network(text)) }

@Suite struct `Whom a request is counted as` {
  private func callers() throws -> CallerClassifier {
    var callers = CallerClassifier()
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

  /// Without the header a proxy speaks for itself: it asks whether the service lives.
  @Test(arguments: [
    ("10.0.0.1", nil, CallerClass.known), ("203.0.113.9", nil, .anonymous), ("10.0.0.1", "10.1.1.1", .known),
    ("10.0.0.1", "17.1.2.3", .apple), ("10.0.0.1", "203.0.113.9", .anonymous),
    ("10.0.0.1", "17.1.2.3, 203.0.113.9", .anonymous), ("10.0.0.1", "garbage", .anonymous),
    ("203.0.113.9", "17.1.2.3", .anonymous), ("10.0.0.1", "192.0.2.1, 10.1.1.1", .known),
  ])
  func `is decided by the client behind a proxy`(
    address: String, header: String?, caller: CallerClass
  ) throws {
    let head = HTTPRequestHead(
      method: "POST", path: "/", rawTarget: "/", headers: header.map { ["X-Forwarded-For": $0] } ?? [:],
      peer: peer(address))
    let callers = try callers()
    #expect(callers.caller(of: head) == caller)
  }
}

@Suite struct `The slots for calls of verifyReceipt` {
  private let slots = CallLimiter(
    total: 16, mostOfAddress: 3, rate: Rate(burst: 100, perSecond: 1), appRate: Rate(burst: 150, perSecond: 1))

  private func call(_ address: String, of app: String? = nil) -> CallLimiter.Call {
    CallLimiter.Call(.anonymous, at: peer(address), of: app)
  }

  @Test func `cannot be held by one address`() {
    let call = call("203.0.113.9")
    for _ in 0..<3 { #expect(slots.take(for: call) == nil) }
    #expect(slots.take(for: call) == "tooManyFromAddress")
    #expect(slots.take(for: self.call("203.0.113.8")) == nil)
    slots.give(back: call)
    #expect(slots.take(for: call) == nil)
  }

  @Test func `cannot be held by strangers alone`() {
    for app in ["a", "b"] {
      for n in 0..<4 { #expect(slots.take(for: call("203.0.113.\(n)", of: app)) == nil) }
    }
    #expect(slots.take(for: call("203.0.113.9", of: "c")) == "overloaded")
    for _ in 0..<4 { #expect(slots.take(for: CallLimiter.Call(.known, at: nil)) == nil) }
  }

  /// A body of megabytes is read only for whoever has a slot.
  @Test func `are taken before anything of a call is read, and given back if its app has none left`() {
    let calls = (0..<3).map { _ in call("203.0.113.9") }
    for call in calls { #expect(slots.begin(call) == nil) }
    #expect(slots.begin(call("203.0.113.9")) == "tooManyFromAddress")
    for n in 0..<4 { #expect(slots.take(for: call("203.0.113.\(n)", of: "a")) == nil) }
    #expect(slots.begin(call("203.0.113.20")) == nil)
    #expect(slots.begin(call("203.0.113.21")) == "overloaded")
    #expect(slots.join(call("203.0.113.20", of: "a")) == "tooManyOfApp")
    #expect(slots.begin(call("203.0.113.21")) == nil)
    #expect(slots.join(call("203.0.113.21", of: "b")) == nil)
    slots.give(back: call("203.0.113.21", of: "b"))
    #expect(slots.join(calls[0]) == nil)
    slots.give(back: calls[0])
    #expect(slots.take(for: call("203.0.113.9", of: "b")) == nil)
  }

  /// Every copy of the app has its secret, and so has whoever has a copy.
  @Test func `cannot be held by one app's clients, nor by calls without a secret`() {
    for n in 0..<4 { #expect(slots.take(for: call("203.0.113.\(n)", of: "a")) == nil) }
    #expect(slots.take(for: call("203.0.113.9", of: "a")) == "tooManyOfApp")
    for n in 10..<13 { #expect(slots.take(for: call("203.0.113.\(n)")) == nil) }
    #expect(slots.take(for: call("203.0.113.9", of: "b")) == nil)
    slots.give(back: call("203.0.113.0", of: "a"))
    #expect(slots.take(for: call("203.0.113.9", of: "a")) == nil)
    slots.give(back: call("203.0.113.9", of: "a"))
    #expect(slots.take(for: call("203.0.113.13")) == nil)
    slots.give(back: call("203.0.113.9", of: "b"))
    #expect(slots.take(for: call("203.0.113.14")) == "tooManyUnnamed")
  }

  /// Behind a proxy that is not named all clients have one address: the half that everybody may have is theirs.
  @Test func `are not limited by name for this machine's own address`() {
    for _ in 0..<8 { #expect(slots.take(for: CallLimiter.Call(.anonymous, at: nil)) == nil) }
    #expect(slots.take(for: CallLimiter.Call(.anonymous, at: nil)) == "overloaded")
  }

  @Test func `are given to one address, and to one app, at a rate`() {
    for _ in 0..<100 {
      #expect(slots.take(for: call("203.0.113.9", of: "a")) == nil)
      slots.give(back: call("203.0.113.9", of: "a"))
    }
    #expect(slots.take(for: call("203.0.113.9", of: "a")) == "tooFastFromAddress")
    for _ in 0..<50 {
      #expect(slots.take(for: call("203.0.113.8", of: "a")) == nil)
      slots.give(back: call("203.0.113.8", of: "a"))
    }
    #expect(slots.take(for: call("203.0.113.8", of: "a")) == "tooFastOfApp")
    #expect(slots.take(for: call("203.0.113.8", of: "b")) == nil)
  }
}

@Suite struct `The metrics` {
  @Test func `are served on a listener of their own, and not to the public`() async throws {
    let listener = HTTPServerConfiguration(port: 0, threads: 1)
    try await RunningService.with({ ($0.showsMetrics, $0.metricsListener) = (false, listener) }) { service in
      #expect(try await service.text("/metrics").status == 404)
      #expect(try await service.text("/livez").status == 200)
      let port = try #require(service.metricsPort)
      let client = HTTPClient()
      let base = "http://127.0.0.1:\(port)"
      let page = try await client.send(ClientRequest(method: "GET", url: "\(base)/metrics"))
      #expect(page.status == 200)
      let text = String(decoding: page.body, as: UTF8.self)
      #expect(text.contains("switchyard_http_rejected_total{reason=\"notAdmitted\",detail=\"metricsElsewhere\"} 1\n"))
      // The database is asked once the service runs.
      let isReady = try await eventually {
        try await client.send(ClientRequest(method: "GET", url: base + "/readyz")).status == 200
      }
      #expect(isReady)
      for (method, path, status) in [
        ("GET", "/livez", 200), ("GET", "/v1/evidence", 404), ("POST", "/notifications", 405),
      ] {
        let answer = try await client.send(ClientRequest(method: method, url: base + path))
        #expect(answer.status == status, "\(path)")
      }
      await client.shutdown()
    }
  }
}

@Suite struct `A refusal by HTTP` {
  @Test func `is a metric with its reason`() async throws {
    try await RunningService.with(sources: IPAllowlist(networks: IPAllowlist.apple, proxies: [])) { service in
      #expect(try await service.post("/v1/evidence", [1], token: "wrong").status == 401)
      #expect(try await service.post("/v1/evidence", [1]).status == 401)
      #expect(try await service.post("/notifications", [1]).status == 403)
      #expect(try await service.post("/nothing", [1]).status == 404)
      #expect(try await service.post("/readyz", [1]).status == 405)
      #expect(try await service.get("/v1/apps/com.example.other/purchases/1", token: service.token).status == 403)
      let metrics = try await service.text("/metrics").text
      for detail in ["unknownToken", "noToken", "sourceNotAllowed", "notFound", "methodNotAllowed", "wrongApp"] {
        let line = "switchyard_http_rejected_total{reason=\"notAdmitted\",detail=\"\(detail)\"} 1\n"
        #expect(metrics.contains(line), "\(detail)")
      }
      #expect(metrics.contains("switchyard_http_connections{caller=\"anonymous\"} "))
      #expect(metrics.contains("switchyard_http_body_bytes{caller=\"apple\"} 0"))
    }
  }
}
