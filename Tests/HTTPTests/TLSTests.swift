/// A certificate authority and a server's certificate, made by the `openssl` command in a directory of their own.
final class TestAuthority: Sendable {
  let directory: String

  init() throws {
    var template = Array("/tmp/switchyard-http-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw RawClient.Failure(reason: "no temporary directory") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    try run("openssl req -x509 \(key) -keyout ca.key -out ca.pem -subj /CN=Test-CA -days 2")
    try run("openssl req \(key) -keyout server.key -out server.csr -subj /CN=localhost")
    try run("printf 'subjectAltName=DNS:localhost' > san.txt")
    try run(
      "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san.txt -out server.pem"
    )
    try run("openssl x509 -in ca.pem -outform DER -out ca.der")
  }

  deinit { _ = unsafe system("rm -rf '\(directory)'") }

  var tls: HTTPServerTLS {
    HTTPServerTLS(certificateFile: "\(directory)/server.pem", keyFile: "\(directory)/server.key")
  }

  func contents(of name: String) throws -> [UInt8] {
    guard let file = unsafe fopen("\(directory)/\(name)", "r") else { throw RawClient.Failure(reason: name) }
    defer { unsafe fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let count = unsafe fread(&buffer, 1, buffer.count, file)
    return Array(buffer.prefix(count))
  }

  func run(_ command: String) throws {
    guard unsafe system("cd '\(directory)' && \(command) 2>/dev/null >/dev/null") == 0 else {
      throw RawClient.Failure(reason: command)
    }
  }
}

@Suite struct `TLS` {
  /// OpenSSL answers each in the call that reads: without a bound one client keeps a thread as long as it likes.
  @Test(arguments: [(updates: 10, isAnswered: true), (150, false)])
  func `ends with a client that sends key updates and nothing else`(updates: Int, isAnswered: Bool) async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      let client = "openssl s_client -tls1_3 -connect localhost:\(server.port)"
      // Every line that begins with k is a key update.
      let lines = "sleep 0.5; for i in $(seq \(updates)); do echo k; sleep 0.005; done"
      let get = "printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; sleep 0.5"
      let command =
        "cd '\(authority.directory)' && { \(lines); \(get); } | \(client) 2>/dev/null | grep -q 'HTTP/1.1 200'"
      // It takes seconds: on a thread of its own it keeps no other test waiting.
      let status = await withCheckedContinuation { continuation in
        DedicatedThread.start { continuation.resume(returning: unsafe system(command)) }
      }
      #expect((status == 0) == isAnswered)
    }
  }

  /// A connection of a proxy's may live for weeks.
  @Test func `stays with a client that sends requests between its key updates`() async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      let client = "openssl s_client -tls1_3 -connect localhost:\(server.port)"
      let updates = "for i in $(seq 20); do echo k; sleep 0.005; done"
      let get = "printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; sleep 0.3"
      let rounds = "sleep 0.5; for j in $(seq 5); do \(updates); \(get); done"
      let command =
        "cd '\(authority.directory)' && test $({ \(rounds); } | \(client) 2>/dev/null | grep -c 'HTTP/1.1 200') = 5"
      let status = await withCheckedContinuation { continuation in
        DedicatedThread.start { continuation.resume(returning: unsafe system(command)) }
      }
      #expect(status == 0)
    }
  }

  @Test(arguments: ["ca.pem", "ca.der"])
  func `carries a request to a server whose root was added`(root: String) async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      var configuration = HTTPClientConfiguration()
      configuration.additionalRoots = try authority.contents(of: root)
      let client = HTTPClient(configuration)
      let body = [UInt8](repeating: 7, count: 300_000)
      let response = try await client.send(
        ClientRequest(method: "POST", url: "https://localhost:\(server.port)/", body: body))
      #expect(response.body == body)
      #expect(response.timing.secured > 0)
      await client.shutdown()
    }
  }

  @Test func `refuses a server that nobody vouches for`() async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      let client = HTTPClient()
      await #expect(throws: HTTPClientError(.tlsFailed, "")) {
        try await client.send(ClientRequest(url: "https://localhost:\(server.port)/"))
      }
      await client.shutdown()
    }
  }

  @Test func `refuses a server of another name`() async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      var configuration = HTTPClientConfiguration()
      configuration.additionalRoots = try authority.contents(of: "ca.pem")
      let client = HTTPClient(configuration)
      await #expect(throws: HTTPClientError(.tlsFailed, "")) {
        try await client.send(ClientRequest(url: "https://127.0.0.1:\(server.port)/"))
      }
      await client.shutdown()
    }
  }

  @Test(arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
  func `is version 1_2 or 1_3`(version: String, works: Bool) async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      let command = "echo | openssl s_client -connect 127.0.0.1:\(server.port) \(version) -cipher ALL:@SECLEVEL=0"
      if works {
        try authority.run(command)
      } else {
        #expect(throws: RawClient.Failure.self) { try authority.run(command) }
      }
    }
  }

  @Test func `survives a client that speaks plain HTTP`() async throws {
    let authority = try TestAuthority()
    try await withServer(tls: authority.tls) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await !client.receiveAll().contains("200"))
      try await eventually("the connection closes") { server.counters.openConnections == 0 }
    }
  }

  @Test func `does not start without a readable certificate that fits its key`() async throws {
    let authority = try TestAuthority()
    let (good, other) = (authority.tls, try TestAuthority())
    let cases: [(HTTPServerTLS, HTTPServerError.Code)] = [
      (HTTPServerTLS(certificateFile: "/nowhere/server.pem", keyFile: good.keyFile), .certificateUnreadable),
      (HTTPServerTLS(certificateFile: good.keyFile, keyFile: good.keyFile), .badCertificate),
      (HTTPServerTLS(certificateFile: good.certificateFile, keyFile: other.tls.keyFile), .badCertificate),
    ]
    for (tls, code) in cases {
      let server = HTTPServer(HTTPServerConfiguration(port: 0, tls: tls), handler: Handler.echo)
      #expect(throws: HTTPServerError(code: code, detail: "")) { try server.start() }
    }
  }
}
