@Suite struct `The memory for bodies` {
  @Test func `is limited for all requests together, and comes back`() async throws {
    try await withServer(limits: small { $0.bodiesInFlight = 100_000 }) { server in
      let first = try RawClient(port: server.port)
      let second = try RawClient(port: server.port)
      for client in [first, second] { await client.send(Self.head(50_000) + String.x(49_999)) }
      try await eventually("two have all") { server.counters.bodiesInFlight == 100_000 }

      let third = try RawClient(port: server.port)
      await third.send(Self.head(50_000) + String.x(50_000))
      let refusal = await third.receiveAll()
      #expect(refusal.hasPrefix("HTTP/1.1 503"))
      #expect(refusal.contains("Retry-After: 5\r\n"))
      #expect(server.counters.refused == [.bodyBudget: 1])
      #expect(server.counters.bodiesInFlight == 100_000)

      for client in [first, second] {
        await client.send("x")
        #expect(await client.receive(until: "xxx").hasPrefix("HTTP/1.1 200"))
      }
      try await eventually("it is back") { server.counters.bodiesInFlight == 0 }
      let fourth = try RawClient(port: server.port)
      await fourth.send(Self.head(100_000) + String.x(100_000))
      #expect(await fourth.receive(until: "xxx").hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test func `refuses a chunked body that outgrows it`() async throws {
    try await withServer(limits: small { $0.bodiesInFlight = 50_000 }) { server in
      let client = try RawClient(port: server.port)
      await client.send(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "EA60\r\n" + String.x(60_000) + "\r\n0\r\n\r\n")
      #expect(await client.receiveAll().hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.bodyBudget: 1])
      #expect(server.counters.bodiesInFlight == 0)
    }
  }

  @Test func `is not taken by promises`() async throws {
    try await withServer(limits: small { $0.bodiesInFlight = 100_000 }) { server in
      var promising: [RawClient] = []
      for _ in 0..<20 {
        let client = try RawClient(port: server.port)
        await client.send(Self.head(1_000_000))
        promising.append(client)
      }
      try await eventually("all are in") { server.counters.openConnections == 20 }
      let client = try RawClient(port: server.port)
      await client.send(Self.head(90_000) + String.x(90_000))
      #expect(await client.receive(until: "xxx").hasPrefix("HTTP/1.1 200"))
      #expect(server.counters.refused == [:])
      for client in promising { await client.close() }
    }
  }

  @Test func `comes back from clients that vanish`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send(Self.head(50_000) + String.x(40_000))
      try await eventually("it is taken") { server.counters.bodiesInFlight >= 40_000 }
      await client.vanish()
      try await eventually("it is back") { server.counters.bodiesInFlight == 0 }
    }
  }

  @Test func `comes back from a body that is too long`() async throws {
    try await withServer(limits: small { ($0.body, $0.discard) = (50_000, 100_000) }) { server in
      let client = try RawClient(port: server.port)
      await client.send(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "EA60\r\n" + String.x(60_000) + "\r\n")
      try await eventually("it is refused") { server.counters.refused == [.bodyTooLarge: 1] }
      #expect(server.counters.bodiesInFlight == 0)
    }
  }

  @Test func `counts for as long as a handler holds it, answered or not`() async throws {
    let gate = Gate()
    let handler = Handler { request in
      await gate.pass()
      return .text(200, "\(request.body.count)")
    }
    try await withServer(handler, limits: small { $0.answer = .milliseconds(200) }) { server in
      let client = try RawClient(port: server.port)
      await client.send(Self.head(30_000) + String.x(30_000))
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.unanswered: 1])
      #expect(server.counters.bodiesInFlight == 30_000)
      gate.open()
      try await eventually("it is back") { server.counters.bodiesInFlight == 0 }
    }
  }

  /// Holds 20,000 bytes for its client until the gate opens.
  private static func holder(_ gate: Gate) -> Handler {
    Handler { request in
      let share = request.share()
      guard share.grow(by: 20_000) else { return .text(200, "no room") }
      await gate.pass()
      var response = HTTPResponse.text(200, String.x(20_000))
      response.share = share
      return response
    }
  }

  /// What a handler receives from elsewhere to answer with counts from then on, and once.
  @Test func `counts what a handler holds until its client has it`() async throws {
    let gate = Gate()
    let handler = Self.holder(gate)
    try await withServer(handler, limits: small { $0.bodiesInFlight = 30_000 }) { server in
      let first = try RawClient(port: server.port)
      await first.send(Self.head(0))
      try await eventually("it is taken") { server.counters.bodiesInFlight == 20_000 }
      let second = try RawClient(port: server.port)
      await second.send(Self.head(0))
      #expect(await second.receive(until: "no room").hasPrefix("HTTP/1.1 200"))
      #expect(server.counters.bodiesInFlight == 20_000)
      gate.open()
      #expect(await first.receive(until: .x(20_000)).hasPrefix("HTTP/1.1 200"))
      try await eventually("it is back") { server.counters.bodiesInFlight == 0 }
      #expect(server.counters.refused == [:])
    }
  }

  /// A client that has gone has nothing held for it.
  @Test func `comes back from what a handler holds for a client that vanishes, or that takes too long`() async throws {
    let gate = Gate()
    let handler = Self.holder(gate)
    try await withServer(handler, limits: small { $0.answer = .milliseconds(200) }) { server in
      let late = try RawClient(port: server.port)
      await late.send(Self.head(0))
      #expect(await late.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
      let client = try RawClient(port: server.port)
      await client.send(Self.head(0))
      try await eventually("both are counted") { server.counters.bodiesInFlight == 40_000 }
      await client.vanish()
      gate.open()
      try await eventually("it is back") { server.counters.bodiesInFlight == 0 }
    }
  }

  /// A connection that waits for an answer holds what its client sent ahead, up to 64 KiB.
  @Test func `counts what a client sends ahead of an answer, and not what has been read`() async throws {
    let gate = Gate()
    let handler = Handler { request in
      await gate.pass()
      return .text(200, "\(request.body.count)")
    }
    try await withServer(handler) { server in
      let alone = try RawClient(port: server.port)
      await alone.send(Self.head(0))
      try await eventually("it waits") { gate.waiting == 1 }
      #expect(server.counters.bodiesInFlight == 0)

      let client = try RawClient(port: server.port)
      await client.send(Self.head(0) + Self.head(40_000) + String.x(39_999))
      try await eventually("both wait") { gate.waiting == 2 }
      #expect(server.counters.bodiesInFlight > 4 << 10)
      gate.open()
      #expect(await client.receive(until: "\r\n\r\n0").hasPrefix("HTTP/1.1 200"))
      await client.send("x")
      #expect(await client.receive(until: "\r\n\r\n40000").hasPrefix("HTTP/1.1 200"))
      try await eventually("it is back") { server.counters.bodiesInFlight == 0 }
      #expect(server.counters.refused == [:])
    }
  }

  @Test func `has no room for all that a client sends ahead, and answers what it has read`() async throws {
    let gate = Gate()
    let handler = Handler { request in
      await gate.pass()
      return .text(200, request.path)
    }
    try await withServer(handler, limits: small { $0.bodiesInFlight = 4_200 }) { server in
      let client = try RawClient(port: server.port)
      await client.send(Self.head(0) + Self.head(40_000) + String.x(40_000))
      try await eventually("it waits") { gate.waiting == 1 }
      #expect(server.counters.bodiesInFlight == 0)
      #expect(server.counters.refused == [.bodyBudget: 1])
      gate.open()
      let answer = await client.receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("Connection: close"))
      #expect(gate.waiting == 0)
    }
  }

  /// Slow readers of short answers, each for a minute, held twice what the figure said.
  @Test func `counts answers from a kilobyte on`() async throws {
    let handler = Handler { request in .text(200, String.x(request.path == "/long" ? 15_000 : 1_000)) }
    try await withServer(handler, limits: small { $0.bodiesInFlight = 10_000 }) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET /short HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await client.receive(until: "xxx").hasPrefix("HTTP/1.1 200"))
      let other = try RawClient(port: server.port)
      await other.send("GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await other.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.answerBudget: 1])
      #expect(server.counters.bodiesInFlight == 0)
    }
  }

  private static func head(_ length: Int) -> String {
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
  }
}
