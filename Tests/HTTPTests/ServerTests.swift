@Suite struct `The server` {
  @Test func `answers with what the handler says`() async throws {
    try await withServer { server in
      let client = HTTPClient()
      let response = try await client.send(
        ClientRequest(
          method: "POST", url: "http://127.0.0.1:\(server.port)/a%20b//c?x=1", headers: [("X-Test", "1")],
          body: Array("hello".utf8)))
      #expect(response.status == 200)
      #expect(response.body == Array("hello".utf8))
      #expect(response.headers["x-method"] == "POST")
      #expect(response.headers["X-Path"] == "/a b/c")
      #expect(response.headers["X-Peer"] == "127.0.0.1")
      await client.shutdown()
    }
  }

  @Test func `finds headers and query values without regard to order or case`() async throws {
    let handler = Handler { request in
      let values = [
        request.headers["x-one"] ?? "-", request.headers.all("X-TWO").joined(separator: ","),
        request.queryValue("q") ?? "-", request.queryValue("empty") ?? "-", "\(request.headers.contains("X-Three"))",
        request.rawTarget,
      ]
      return .text(200, values.joined(separator: "|"))
    }
    try await withServer(handler) { server in
      let client = try RawClient(port: server.port)
      await client.send(
        "GET /?a=b&q=1%2B1+%C3%A9&empty HTTP/1.1\r\nHost: x\r\nX-One: 1\r\nx-two: a\r\nX-Two: b\r\nConnection: close\r\n\r\n"
      )
      #expect(await client.receiveAll().hasSuffix("1|a,b|1+1 é||false|/?a=b&q=1%2B1+%C3%A9&empty"))
    }
  }

  @Test func `keeps a connection for the next request`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      for n in 1...3 {
        await client.send("POST /\(n) HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n#\(n)")
        #expect(await client.receive(until: "#\(n)").contains("X-Path: /\(n)"))
      }
      #expect(server.counters.connections == 1)
      #expect(server.counters.answers[2] == 3)
    }
  }

  @Test func `answers requests that come in one piece one after the other`() async throws {
    let handler = Handler { request in
      await Task.yield()
      return .text(200, "<\(request.path)>")
    }
    try await withServer(handler) { server in
      let client = try RawClient(port: server.port)
      await client.send(
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
      )
      let text = await client.receiveAll()
      #expect(text.components(of: "<", ">") == ["/1", "/2", "/3"])
    }
  }

  @Test func `answers HTTP 1_0 and closes`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi")
      let text = await client.receiveAll()
      #expect(text.hasPrefix("HTTP/1.0 200") || text.hasPrefix("HTTP/1.1 200"))
      #expect(text.hasSuffix("\r\n\r\nhi"))
    }
  }

  @Test func `answers HEAD with the length and no body`() async throws {
    let handler = Handler { _ in .text(200, "12345") }
    try await withServer(handler) { server in
      let client = try RawClient(port: server.port)
      await client.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      let text = await client.receiveAll()
      #expect(text.contains("Content-Length: 5"))
      #expect(text.hasSuffix("\r\n\r\n"))
    }
  }

  @Test func `invites the body of a client that waits for it`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
      await client.send("hi")
      #expect(await client.receive(until: "hi").hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test func `puts a chunked body together`() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      await client.send(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
      )
      #expect(await client.receiveAll().hasSuffix("\r\n\r\nabcdefg"))
    }
  }

  @Test(arguments: [
    HTTPResponse(status: 200, headers: ["X-Bad": "a\r\nSet-Cookie: stolen"]), HTTPResponse(status: 99),
    HTTPResponse(status: 1_000), HTTPResponse(status: 200, headers: ["Bad Name": "x"]),
  ])
  func `replaces an answer that HTTP cannot say by a 500`(answer: HTTPResponse) async throws {
    try await withServer(Handler { _ in answer }) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      let text = await client.receiveAll()
      #expect(text.hasPrefix("HTTP/1.1 500"))
      #expect(!text.contains("stolen"))
      #expect(server.counters.answers[5] == 1)
    }
  }

  @Test func `carries 200 requests of 100 KB, 50 at a time`() async throws {
    let handler = Handler { request in
      await Task.yield()
      return HTTPResponse(status: 200, body: request.body)
    }
    try await withServer(handler) { server in
      let client = HTTPClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for n in 0..<200 {
          if n >= 50 { try await group.next() }
          group.addTask {
            let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ n) }
            let response = try await client.send(
              ClientRequest(method: "POST", url: "http://127.0.0.1:\(server.port)/\(n)", body: body))
            #expect(response.status == 200)
            #expect(response.body == body)
          }
        }
        try await group.waitForAll()
      }
      #expect(server.counters.answers[2] == 200)
      #expect(server.counters.bytesSent == 200 * 100_000)
      #expect(server.counters.bytesReceived > 200 * 100_000)
      await client.shutdown()
      try await eventually("all connections close") { server.counters.openConnections == 0 }
    }
  }
}

extension String {
  /// What stands between each `open` and the next `close`.
  fileprivate func components(of open: Character, _ close: Character) -> [String] {
    split(separator: open).dropFirst().map { String($0.prefix { $0 != close }) }
  }
}
