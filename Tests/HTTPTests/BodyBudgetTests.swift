import HTTPServer
import Testing
import Time

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

  private static func head(_ length: Int) -> String {
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
  }
}
