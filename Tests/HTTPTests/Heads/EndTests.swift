@Suite struct `The end of a connection` {
  @Test func `comes after the answer to a client that has said its last`() async throws {
    let handler = Handler { request in
      await Task.yield()
      return .text(200, "<\(request.path)>")
    }
    try await withServer(handler) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
      await client.finishSending()
      let text = await client.receiveAll()
      #expect(text.contains("</1>") && text.hasSuffix("</2>"))
      try await eventually("it closes") { server.counters.openConnections == 0 }
    }
  }

  @Test func `lets the answers before a malformed request out`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send(
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost : x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\n\r\n")
      let text = await client.receiveAll()
      #expect(text.contains("X-Path: /1") && text.contains("HTTP/1.1 400"))
      #expect(text.ranges(of: "HTTP/1.1 ").count == 2)
      #expect(server.counters.faults == [.spaceBeforeColon: 1])
    }
  }

  /// Closing while bytes are unread would reset the connection, and the answer would be lost.
  @Test func `lets a client that goes on sending read why it was refused`() async throws {
    try await withServer(limits: small { ($0.body, $0.discard) = (1_000, 200_000) }) { server in
      for _ in 0..<20 {
        let client = try RawClient(port: server.port)
        await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n")
        await client.send(String.x(150_000))
        #expect(await client.receiveAll().hasPrefix("HTTP/1.1 413"))
      }
    }
  }

  @Test func `waits for a client no longer than a moment`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      #expect(await client.receiveAll().contains("Connection: close\r\n"))
      try await eventually("it closes") { server.counters.openConnections == 0 }
      await client.close()
    }
  }
}
