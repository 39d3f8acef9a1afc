@Suite struct `An ambiguous request on the wire` {
  /// One server for all: a request that is refused must cost the next client nothing.
  @Test func `gets its status once, reaches no handler, and ends the connection`() async throws {
    let asked = Count()
    let handler = Handler { _ in
      asked.up()
      return HTTPResponse(status: 200)
    }
    try await withServer(handler, limits: small { $0.receive = .milliseconds(500) }) { server in
      for request in AmbiguousRequest.all {
        guard case .refused(let fault) = request.reading else { continue }
        let client = try RawClient(port: server.port)
        // What follows it would be a second request, if the first were taken.
        await client.send(request.bytes + Array("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        let answer = await client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 \(fault.status) "), "\(request.name): \(answer.prefix(40))")
        #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(request.name)")
        #expect(answer.contains("Connection: close\r\n"), "\(request.name)")
        #expect(asked.value == 0, "\(request.name)")
      }
      try await eventually("all connections close") { server.counters.openConnections == 0 }
    }
  }

  @Test func `is answered when it has one reading`() async throws {
    try await withServer { server in
      for request in AmbiguousRequest.all {
        guard case .request(let path, let body, rest: "") = request.reading else { continue }
        let client = try RawClient(port: server.port)
        await client.send(request.bytes)
        let answer = await client.receive(until: "\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(request.name): \(answer.prefix(40))")
        #expect(answer.contains("X-Path: \(path)\r\n"), "\(request.name)")
        #expect(answer.hasSuffix("\r\n\r\n\(body)"), "\(request.name)")
        await client.close()
      }
    }
  }
}
