@Suite struct `An answer that breaks off` {
  private func failure(_ ending: HTTPResponse.Ending) async throws -> HTTPClientError.Code? {
    let handler = Handler { _ in
      var response = HTTPResponse.json(200, Array(repeating: UInt8(ascii: "x"), count: 10_000))
      response.ending = ending
      return response
    }
    return try await withServer(handler) { server in
      let client = HTTPClient()
      do throws(HTTPClientError) {
        let response = try await client.send(ClientRequest(url: "http://127.0.0.1:\(server.port)/"))
        #expect(response.body.count == 10_000)
        await client.shutdown()
        return nil
      } catch {
        await client.shutdown()
        return error.code
      }
    }
  }

  @Test func `is whole unless it is told otherwise`() async throws {
    #expect(try await failure(.complete) == nil)
  }

  @Test(arguments: [0, 1, 4_096, 9_999])
  func `ends after so many bytes`(count: Int) async throws {
    #expect(try await failure(.cut(after: count)) == .closed)
  }

  @Test func `never comes`() async throws {
    #expect(try await failure(.silent) == .closed)
  }

  @Test func `leaves the server as it was`() async throws {
    let handler = Handler { request in
      var response = HTTPResponse.text(200, "whole")
      if request.path == "/broken" { response.ending = .cut(after: 2) }
      return response
    }
    try await withServer(handler) { server in
      let client = HTTPClient()
      for _ in 0..<5 {
        _ = try? await client.send(ClientRequest(url: "http://127.0.0.1:\(server.port)/broken"))
        let response = try await client.send(ClientRequest(url: "http://127.0.0.1:\(server.port)/"))
        #expect(response.body == Array("whole".utf8))
      }
      await client.shutdown()
    }
  }

  @Test(arguments: [(false, 400), (true, 200)])
  func `aside, a slash may be escaped only where the server says so`(takes: Bool, status: Int) async throws {
    try await withServer(limits: small { $0.takesEscapedSlashes = takes }) { server in
      let client = HTTPClient()
      let response = try await client.send(ClientRequest(url: "http://127.0.0.1:\(server.port)/ocsp/a%2Fb"))
      #expect(response.status == status)
      if takes { #expect(response.headers["X-Path"] == "/ocsp/a/b") }
      await client.shutdown()
    }
  }
}
