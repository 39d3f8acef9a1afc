@testable import Database

@Suite struct `TLS to the database` {
  /// A server on a port of the loopback interface, with an account that has a password; with a certificate or without.
  private static func withServer(
    certificate: Bool,
    _ body: (_ network: DatabaseConfiguration, _ socket: DatabaseConfiguration, _ directory: String) async throws ->
      Void
  ) async throws {
    let directory = TemporaryDirectory()
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = 16 << 20
    settings.options = ["--innodb-log-file-size=8M", "--skip-networking=0", "--bind-address=127.0.0.1"]
    let port = try #require(freePort())
    settings.options.append("--port=\(port)")
    if certificate {
      try await makeCertificate("IP:127.0.0.1", name: "server", in: directory.path)
      settings.options += ["--ssl-cert=\(directory.path)/server.pem", "--ssl-key=\(directory.path)/server.key"]
    }
    let server = EmbeddedServer(directory: "\(directory.path)/db", settings: settings)
    let socket = try await server.start()
    let connection = try await Connection.open(socket)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE USER app@'%' IDENTIFIED BY 'p@ss'")
      try session.run("GRANT ALL ON switchyard.* TO app@'%'")
    }
    await connection.close()
    let network = DatabaseConfiguration(
      address: .host("127.0.0.1", port: port), user: "app", password: "p@ss", database: "switchyard")
    try await body(network, socket, directory.path)
    await server.stop()
  }

  /// Whether the connection is encrypted, or why there is none.
  private static func open(
    _ configuration: DatabaseConfiguration, _ tls: DatabaseConfiguration.TLS, authority: String? = nil
  ) async -> Result<Bool, DatabaseError> {
    var configuration = configuration
    configuration.tls = tls
    configuration.certificateAuthority = authority
    do throws(DatabaseError) {
      let connection = try await Connection.open(configuration)
      let isEncrypted = try await connection.read { session throws(DatabaseError) in
        try session.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0].text(1) != ""
      }
      await connection.close()
      return .success(isEncrypted)
    } catch {
      return .failure(error)
    }
  }

  @Test func `is refused where it is required and not offered`() async throws {
    try await Self.withServer(certificate: false) { network, _, _ in
      #expect(await Self.open(network, .required) == .failure(DatabaseError(.tlsFailed, "")))
      #expect(await Self.open(network, .preferred) == .success(false))
      #expect(await Self.open(network, .disabled) == .success(false))
      var wrong = network
      wrong.password = "wrong"
      #expect(await Self.open(wrong, .disabled) == .failure(DatabaseError(.accessDenied, "")))
    }
  }

  @Test func `is used where it is offered, and the server's name and authority are checked`() async throws {
    try await Self.withServer(certificate: true) { network, socket, directory in
      let authority = "\(directory)/server.pem"
      #expect(await Self.open(network, .required) == .success(true))
      #expect(await Self.open(network, .preferred) == .success(true))
      #expect(await Self.open(network, .disabled) == .success(false))
      #expect(await Self.open(network, .required, authority: authority) == .success(true))
      let refused = Result<Bool, DatabaseError>.failure(DatabaseError(.tlsFailed, ""))
      try await Self.makeCertificate("IP:127.0.0.1", name: "other", in: directory)
      #expect(await Self.open(network, .required, authority: "\(directory)/other.pem") == refused)
      #expect(await Self.open(network, .required, authority: "\(directory)/absent.pem") == refused)

      try await Self.makeCertificate("DNS:elsewhere.example", name: "server", in: directory)
      let connection = try await Connection.open(socket)
      try await connection.read { session throws(DatabaseError) in try session.run("FLUSH SSL") }
      await connection.close()
      #expect(await Self.open(network, .required) == .success(true))
      #expect(await Self.open(network, .required, authority: authority) == refused)
    }
  }

  private static func makeCertificate(_ name: String, name file: String, in directory: String) async throws {
    let process = try await ChildProcess.start(
      ChildProcess.Command(
        program: "/usr/bin/openssl",
        arguments: [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
          "-keyout", "\(directory)/\(file).key", "-out", "\(directory)/\(file).pem", "-subj", "/CN=test",
          "-addext", "subjectAltName=\(name)",
        ], directory: directory,
        user: ServerUser(id: geteuid(), group: getegid(), name: "we", isAnother: false),
        output: "\(directory)/openssl.log"))
    let code = await process.ended()
    try #require(code == 0)
    for ending in ["key", "pem"] { try Files.change("\(directory)/\(file).\(ending)", mode: 0o644) }
  }

  /// A port that was free a moment ago.
  private static func freePort() -> UInt16? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
      }
    }
    return isBound ? UInt16(bigEndian: address.sin_port) : nil
  }
}
