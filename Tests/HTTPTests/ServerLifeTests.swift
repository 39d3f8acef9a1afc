@Suite struct `The server's life` {
  /// What a client has said when it vanishes.
  enum Stage: String, CaseIterable {
    case connected, inHead, inBody, computing, answered
  }

  @Test(arguments: Stage.allCases)
  func `survives clients that vanish, a hundred times`(stage: Stage) async throws {
    let gate = Gate()
    let handler = Handler { request in
      if request.path == "/wait" { await gate.pass() }
      return HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 200_000))
    }
    try await withServer(handler) { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for n in 0..<100 {
          group.addTask {
            let client = try RawClient(port: server.port)
            switch stage {
            case .connected: break
            case .inHead: await client.send("POST /wait HTTP/1.1\r\nHost")
            case .inBody: await client.send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhello")
            case .computing: await client.send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
            case .answered:
              await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
              _ = await client.receive()
            }
            if stage == .computing {
              // A client that vanishes before its request was read takes the request with it.
              try await eventually("all are being answered") { gate.waiting == 100 }
            }
            if n % 2 == 0 { await client.vanish() } else { await client.close() }
          }
        }
        try await group.waitForAll()
      }
      gate.open()
      try await eventually("all connections close") {
        server.counters.connections == 100 && server.counters.openConnections == 0
      }
    }
  }

  @Test func `lets running requests finish when it stops, and lets nobody in`() async throws {
    let gate = Gate()
    let events = Events()
    let handler = Handler { _ in
      await gate.pass()
      return .text(200, "finished")
    }
    let server = HTTPServer(HTTPServerConfiguration(port: 0), handler: handler, onEvent: { events.add($0) })
    try server.start()
    let port = server.port
    let running = Task { try await server.run() }
    let idle = try RawClient(port: port)
    var clients: [RawClient] = []
    for _ in 0..<10 { clients.append(try RawClient(port: port)) }
    for client in clients { await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
    try await eventually("all are being answered") { gate.waiting == 10 }

    running.cancel()
    #expect(await idle.receiveAll().isEmpty)
    #expect(throws: RawClient.Failure.self) { try RawClient(port: port) }
    #expect(gate.waiting == 10)

    gate.open()
    for client in clients {
      let answer = await client.receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("finished"))
      #expect(answer.contains("Connection: close"))
    }
    try await running.value
    #expect(events.unfinished == 0)
  }

  @Test func `answers 503 for those who do not finish in time when it stops`() async throws {
    let gate = Gate()
    let events = Events()
    let handler = Handler { _ in
      await gate.pass()
      return .text(200, "finished")
    }
    let client = try await withServer(handler, stopWithin: .milliseconds(200), events: events) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("it is being answered") { gate.waiting == 1 }
      return client
    }
    #expect(await client.receiveAll().hasPrefix("HTTP/1.1 503"))
    #expect(events.unfinished == 1)
    gate.open()
  }

  @Test func `stops under load without losing an answer it began`() async throws {
    for _ in 0..<5 {
      let (begun, finished) = (Count(), Count())
      let handler = Handler { _ in
        begun.up()
        await Task.yield()
        finished.up()
        return HTTPResponse(status: 200)
      }
      let client = HTTPClient()
      let load = try await withServer(handler) { server in
        let url = "http://127.0.0.1:\(server.port)/"
        let load = (0..<20).map { _ in
          Task { while (try? await client.send(ClientRequest(url: url))) != nil {} }
        }
        try await eventually("there is load") { finished.value > 200 }
        return load
      }
      for task in load { await task.value }
      #expect(begun.value == finished.value)
      await client.shutdown()
    }
  }

  @Test func `says why it cannot listen`() async throws {
    try await withServer { server in
      let cases: [(String, UInt16, HTTPServerError.Code)] = [
        ("127.0.0.1", server.port, .addressInUse), ("192.0.2.1", 0, .addressNotAvailable),
        ("localhost", 0, .invalidAddress), ("::zz", 0, .invalidAddress),
      ]
      for (address, port, code) in cases {
        let other = HTTPServer(HTTPServerConfiguration(address: address, port: port), handler: Handler.echo)
        #expect(throws: HTTPServerError(code: code, detail: "")) { try other.start() }
      }
      #expect(throws: HTTPServerError(code: .alreadyStarted, detail: "")) { try server.start() }
    }
  }

  @Test func `listens on IPv6 and hears IPv4 there`() async throws {
    let server = HTTPServer(HTTPServerConfiguration(address: "::", port: 0), handler: Handler.echo)
    guard (try? server.start()) != nil else { return }  // a machine without IPv6
    let client = HTTPClient()
    for (host, peer) in [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")] {
      let response = try await client.send(ClientRequest(url: "http://\(host):\(server.port)/"))
      #expect(response.headers["X-Peer"] == peer)
    }
    await client.shutdown()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test func `stops when nobody holds it any more`() async throws {
    let events = Events()
    var server: HTTPServer? = HTTPServer(
      HTTPServerConfiguration(port: 0), handler: Handler.echo, onEvent: { events.add($0) })
    try server?.start()
    server = nil
    try await eventually("it stops") { events.unfinished == 0 }
  }
}
