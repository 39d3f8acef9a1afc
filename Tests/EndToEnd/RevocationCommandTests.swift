/// The simulated App Store's responders, asked by the commands.
@Suite struct `Revocation` {
  private static let app = "com.example.revocation"

  /// An App Store whose certificates name its responders, and something that it signed just now.
  private func site(_ body: (RunningSimulator, String) async throws -> Void) async throws {
    let arguments = ["--customers", "2", "--seed", "5", "--app", Self.app]
    try await RunningSimulator.with(arguments, in: TemporaryDirectory()) { apple in
      let sold = try #require(try await apple.purchases(of: Self.app).first?["transaction"]?.object)
      let key = DeveloperKey(
        issuerID: apple.word("issuerId"), keyID: apple.word("keyId"),
        signingKey: try SigningKey(pem: Array(Program.text(apple.word("keyFile")).utf8)))
      let token = try key.token(for: Self.app, at: WallClock.system.now())
      let client = HTTPClient()
      let answer = try await client.send(
        ClientRequest(
          url: "\(apple.word("sandboxURL"))/inApps/v1/transactions/\(sold["transactionId"]?.string ?? "")",
          headers: [("Authorization", "Bearer \(token)")]))
      await client.shutdown()
      let signed = try JSONReader.read(answer.body).object?["signedTransactionInfo"]?.string
      try await body(apple, try #require(signed))
    }
  }

  @Test func `is told by jws verify only when it is asked for, and what nobody vouches for is refused then`()
    async throws
  {
    try await site { apple, jws in
      func verify(_ options: String...) async throws -> Program.Outcome {
        try await Program().run(
          ["jws", "verify", "--json", "--root", apple.root] + options + ["-"], input: Array(jws.utf8))
      }
      func code(_ outcome: Program.Outcome) throws -> JSONValue? {
        try outcome.objects.first?["error"]?.object?["code"]
      }
      let good = try await verify("--ocsp")
      #expect(good.status == 0, "\(good)")
      #expect(good.notes.split(separator: "\n").filter { $0.hasSuffix(": good") }.count == 2, "leaf and intermediate")
      for (fault, expected) in [
        ("revoked", "revoked"), ("unknown", "revocationNotKnown"), ("serverError", "revocationNotKnown"),
        ("stale", "revocationNotKnown"), ("foreignSigner", "revocationNotKnown"), ("tryLater", "revocationNotKnown"),
      ] {
        try await apple.control("fault", "fault=\(fault)", "on=ocsp", "times=null")
        let refused = try await verify("--ocsp")
        #expect(refused.status == 1, "\(fault): \(refused)")
        #expect(try code(refused) == .string(expected), "\(fault)")
        #expect(refused.notes.contains("certificate "), "it says what each responder said: \(refused)")
        #expect(try await verify().status == 0, "nobody was asked")
        try await apple.control("mend")
      }
    }
  }

  @Test(arguments: ["on", "off", "prefer"])
  func `does not keep serve from accepting messages while responders are down`(policy: String) async throws {
    try await site { apple, _ in
      try await apple.control("fault", "fault=serverError", "on=ocsp", "times=null")
      let program = try await TestDatabase.migrated().program
      _ = try await program.run("app", "add", Self.app)
      try await serve(program, apple, "--ocsp", policy) { try await send(apple, to: $0) }
      #expect(try await program.run("quarantine", "list", "--json").objects.isEmpty)
      #expect(try await program.run("serve", "--ocsp", "require").status == 2)
    }
  }

  @Test func `is known to a replay and to the next service`() async throws {
    try await site { apple, _ in
      let program = try await TestDatabase.migrated().program
      _ = try await program.run("app", "add", Self.app)
      try await apple.control("fault", "fault=revoked", "on=ocsp", "times=null")
      try await serve(program, apple) { service in
        try await send(apple, to: service)
        #expect(await eventually(within: .seconds(30)) { service.notes.contains("was revoked") })
        try await send(apple, to: service, of: 1)
      }
      #expect(try await program.run("quarantine", "list", "--json").objects.map { $0["code"] } == ["revoked"])
      try await apple.control("mend")
      try await serve(program, apple) { try await send(apple, to: $0, of: 2) }
      let codes = try await program.run("quarantine", "list", "--json").objects.map { $0["code"] }
      #expect(codes == ["revoked", "revoked"])
      func replay(_ options: String...) async throws -> Int32 {
        try await program.run(["quarantine", "replay", "--all", "--trust-root", apple.root] + options).status
      }
      #expect(try await replay() == 3)
      #expect(try await program.run("quarantine", "list", "--json").objects.count == 2)
      #expect(try await replay("--ocsp", "off") == 0)
    }
  }

  private func serve(
    _ program: Program, _ apple: RunningSimulator, _ options: String..., body: (RunningProgram) async throws -> Void
  ) async throws {
    let service = try await RunningProgram.inProcess(
      program, ["--trust-root", apple.root, "--reconcile-every", "0", "--heartbeat-every", "0"] + options)
    let result: Result<Void, any Error>
    do { result = .success(try await body(service)) } catch { result = .failure(error) }
    await service.end(SIGTERM)
    try result.get()
  }

  /// Apple sends one notification, which is answered 200 whatever becomes of it.
  private func send(_ apple: RunningSimulator, to service: RunningProgram, of number: Int = 0) async throws {
    try await apple.control(
      "destination", "bundleId=\(Self.app)", "environment=Sandbox", "url=\(service.url)/notifications", "version=2")
    let sold = try await apple.purchases(of: Self.app).filter {
      $0["transaction"]?.object?["inAppOwnershipType"] == "PURCHASED"
    }
    let id = try #require(sold.dropFirst(number).first?["transaction"]?.object?["transactionId"]?.string)
    try await apple.control(
      "act", "act=requestRefund", "transactionId=\(id)", "bundleId=\(Self.app)", "environment=Sandbox")
    let sent = try await apple.control("advance", "milliseconds=60000")
    #expect((sent.first?["waiting"]?.integer ?? 1) == 0, "\(sent)")
  }
}
