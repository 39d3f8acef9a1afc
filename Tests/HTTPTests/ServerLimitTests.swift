@Suite struct `The server's limits` {
  @Test func `refuse a body that says it is too long, unread`() async throws {
    try await withServer(limits: small { ($0.body, $0.discard) = (100, 0) }) { server in
      let client = try RawClient(port: server.port)
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n")
      #expect(await client.receiveAll().hasPrefix("HTTP/1.1 413"))
      #expect(server.counters.refused == [.bodyTooLarge: 1])
    }
  }

  @Test func `read a little more of a body that is too long, so that the client gets to know`() async throws {
    try await withServer(limits: small { ($0.body, $0.discard) = (100, 1_000) }) { server in
      let client = try RawClient(port: server.port)
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n" + String.x(500))
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413"))
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n" + String.x(100))
      #expect(await client.receive(until: "xxx").hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test func `refuse a chunked body once it is too long`() async throws {
    try await withServer(limits: small { ($0.body, $0.discard) = (100, 1_000) }) { server in
      let client = try RawClient(port: server.port)
      let chunk = "40\r\n" + String.x(64) + "\r\n"
      await client.send(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk + "0\r\n\r\n")
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413"))
      #expect(server.counters.refused[.bodyTooLarge] == 1)
    }
  }

  @Test func `hang up on a chunked body without end`() async throws {
    try await withServer(limits: small { ($0.body, $0.discard) = (100, 1_000) }) { server in
      let client = try RawClient(port: server.port)
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = "400\r\n" + String.x(1_024) + "\r\n"
      while await client.send(chunk) {}
      try await eventually("the connection closes") { server.counters.openConnections == 0 }
    }
  }

  @Test func `can be set by the handler for each request`() async throws {
    var handler = Handler.echo
    handler.admission = { $0.path == "/big" ? .admit(bodyLimit: 1_000) : .admit(bodyLimit: 10) }
    try await withServer(handler, limits: small { $0.body = 100 }) { server in
      let client = HTTPClient()
      for (path, size, status) in [("big", 1_000, 200), ("big", 1_001, 413), ("small", 10, 200), ("small", 11, 413)] {
        let response = try await client.send(
          ClientRequest(
            method: "POST", url: "http://127.0.0.1:\(server.port)/\(path)", body: [UInt8](repeating: 0, count: size)))
        #expect(response.status == status, "\(path) \(size)")
      }
      await client.shutdown()
    }
  }

  @Test func `let the handler refuse before the body`() async throws {
    var handler = Handler.echo
    handler.admission = { _ in .refuse(.text(401, "who are you?")) }
    try await withServer(handler) { server in
      let waiting = try RawClient(port: server.port)
      await waiting.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(await waiting.receiveAll().hasPrefix("HTTP/1.1 401"))
      let sending = try RawClient(port: server.port)
      await sending.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
      #expect(await sending.receive(until: "you?").hasPrefix("HTTP/1.1 401"))
      await sending.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await sending.receive(until: "you?").hasPrefix("HTTP/1.1 401"))
      #expect(server.counters.refused == [.notAdmitted: 3])
    }
  }

  @Test func `refuse headers that are too long`() async throws {
    try await withServer(limits: small { $0.head = 2_048 }) { server in
      for size in [3_000, 30_000] {
        let client = try RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Long: \(String.x(size))\r\n\r\n")
        let answer = await client.receive(until: "\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 431"), "\(size): \(answer)")
      }
      try await eventually("both are counted") { server.counters.refused[.headTooLarge] == 2 }
    }
  }

  @Test(arguments: [
    "GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a/%2e%2E/b HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a%2Fb HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `refuse what cannot be read in one way only`(request: String) async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send(request)
      #expect(await client.receiveAll().hasPrefix("HTTP/1.1 400"))
      try await eventually("it is counted") { server.counters.refused[.malformed] == 1 }
      try await eventually("the connection closes") { server.counters.openConnections == 0 }
    }
  }

  @Test(arguments: [
    "\r\n\r\n\r\n", "garbage\r\n\r\n", "GET / SMTP/1.0\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
  ])
  func `do not let noise in`(noise: String) async throws {
    let handler = Handler { _ in
      Issue.record("the handler was asked")
      return HTTPResponse(status: 200)
    }
    try await withServer(handler, limits: small { $0.receive = .milliseconds(300) }) { server in
      let client = try RawClient(port: server.port)
      await client.send(noise)
      #expect(await !client.receiveAll().contains(" 200 "))
      try await eventually("the connection closes") { server.counters.openConnections == 0 }
    }
  }

  @Test(arguments: ["", "GE", "GET / HTTP/1.1\r\nHost:", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"])
  func `cut off a request that drips`(start: String) async throws {
    let limits = small { ($0.receive, $0.idle) = (.milliseconds(300), .milliseconds(300)) }
    try await withServer(limits: limits) { server in
      let client = try RawClient(port: server.port)
      await client.send(start)
      let dripping = Task {
        while await client.send("x"), !Task.isCancelled { try await Task.sleep(for: .milliseconds(20)) }
      }
      try await eventually("the connection opens") { server.counters.connections == 1 }
      try await eventually("the connection is cut") { server.counters.openConnections == 0 }
      dripping.cancel()
      #expect(server.counters.answers[2] == 0)
    }
  }

  @Test func `close a connection that stays idle`() async throws {
    try await withServer(limits: small { $0.idle = .milliseconds(200) }) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await client.receiveAll().hasPrefix("HTTP/1.1 200"))
      #expect(server.counters.refused == [:])
    }
  }

  @Test func `cut off a client that does not take its answer`() async throws {
    let handler = Handler { _ in HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 64 << 20)) }
    try await withServer(handler, limits: small { $0.send = .milliseconds(300) }) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("it is counted") { server.counters.refused == [.slowReader: 1] }
      try await eventually("the connection is cut") { server.counters.openConnections == 0 }
      await client.close()
    }
  }

  @Test func `answer in the place of a handler that takes too long, and cancel it`() async throws {
    let cancelled = Gate()
    let handler = Handler { _ in
      try? await Task.sleep(for: .seconds(60))
      if Task.isCancelled { cancelled.open() }
      return .text(200, "too late")
    }
    try await withServer(handler, limits: small { $0.answer = .milliseconds(200) }) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
      await cancelled.pass()
      #expect(server.counters.refused == [.unanswered: 1])
    }
  }

  @Test func `turn away connections beyond their number`() async throws {
    try await withServer(limits: small { $0.connections = 2 }) { server in
      let first = try RawClient(port: server.port)
      let second = try RawClient(port: server.port)
      try await eventually("both are in") { server.counters.openConnections == 2 }
      let third = try RawClient(port: server.port)
      #expect(await third.receiveAll().hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.tooManyConnections: 1])
      await first.close()
      await second.close()
      try await eventually("both are gone") { server.counters.openConnections == 0 }
      let fourth = try RawClient(port: server.port)
      await fourth.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await fourth.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test func `turn away connections beyond the number for one address`() async throws {
    try await withServer(limits: small { $0.connectionsPerAddress = 1 }) { server in
      let first = try RawClient(port: server.port)
      try await eventually("it is in") { server.counters.openConnections == 1 }
      #expect(await (try RawClient(port: server.port)).receiveAll().hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.tooManyFromAddress: 1])
      await first.close()
      try await eventually("it is gone") { server.counters.openConnections == 0 }
      let next = try RawClient(port: server.port)
      await next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await next.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    }
  }
}
