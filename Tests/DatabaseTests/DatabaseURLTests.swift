@Suite struct `A database URL` {
  @Test func `names host, account, database and TLS`() throws {
    let url = try DatabaseURL("mysql://app:p%40ss%2Fw%3Ard@db.example:3307/ledger?tls=required&ca=/etc/ssl/ca.pem")
    let configuration = url.configuration
    #expect(configuration.address == .host("db.example", port: 3_307))
    #expect(configuration.user == "app")
    #expect(configuration.password == "p@ss/w:rd")
    #expect(configuration.database == "ledger")
    #expect(configuration.tls == .required)
    #expect(configuration.certificateAuthority == "/etc/ssl/ca.pem")
    #expect(url.description == "app@db.example:3307/ledger (TLS required)")
    #expect(!String(reflecting: url).contains("p@ss"))
  }

  @Test(arguments: [
    ("mysql://u@h/d", DatabaseConfiguration.Address.host("h", port: 3_306), DatabaseConfiguration.TLS.preferred),
    ("mariadb://u:@[::1]:4000/d", .host("::1", port: 4_000), .preferred),
    ("mysql://u@[fe80::1]", .host("fe80::1", port: 3_306), .preferred),
    ("mysql://u@h?ca=/ca.pem", .host("h", port: 3_306), .required),
    ("mysql://u@localhost/d?socket=/run/my%20sql.sock", .socket(path: "/run/my sql.sock"), .disabled),
    ("mysql://u@localhost/d?socket=/s&tls=preferred", .socket(path: "/s"), .preferred),
  ])
  func `has sensible defaults`(
    text: String, address: DatabaseConfiguration.Address, tls: DatabaseConfiguration.TLS
  ) throws {
    let configuration = try DatabaseURL(text).configuration
    #expect(configuration.address == address)
    #expect(configuration.tls == tls)
  }

  @Test(arguments: [
    ("postgres://u@h/d", DatabaseURLError.scheme), ("", .scheme), ("mysql://h/d", .noUser), ("mysql://@h/d", .noUser),
    ("mysql://u@/d", .host), ("mysql://u@[::1/d", .host), ("mysql://u@h:0/d", .port), ("mysql://u@h:65536/d", .port),
    ("mysql://u@h:x/d", .port), ("mysql://u@h/d?tls=maybe", .tls), ("mysql://u@h/d?ca=relative", .path(option: "ca")),
    ("mysql://u@h/d?socket=", .path(option: "socket")), ("mysql://u@h/d?sslmode=x", .option("sslmode")),
    ("mysql://u:%4@h/d", .encoding), ("mysql://u:%zz@h/d", .encoding), ("mysql://u:%00@h/d", .encoding),
    ("mysql://u:%ff@h/d", .encoding), ("mysql://u@h/" + String(repeating: "x", count: 5_000), .tooLong),
  ])
  func `says what is wrong with it`(text: String, error: DatabaseURLError) {
    #expect(throws: error) { try DatabaseURL(text) }
    #expect(!error.description.isEmpty)
  }
}
