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

  @Test(arguments: [("require", "revocationNotKnown"), ("prefer", nil), ("off", nil)])
  func `lets the policy of serve decide while responders are down`(policy: String, code: String?) async throws {
    try await site { apple, jws in
      try await apple.control("fault", "fault=serverError", "on=ocsp", "times=null")
      let database = try await TestDatabase.migrated()
      let program = database.program
      _ = try await program.run("app", "add", Self.app)
      let service = try await RunningProgram.inProcess(
        program, ["--trust-root", apple.root, "--ocsp", policy, "--reconcile-every", "0", "--heartbeat-every", "0"])
      let result: Result<Void, any Error>
      do { result = .success(try await send(apple, to: service)) } catch { result = .failure(error) }
      await service.end(SIGTERM)
      try result.get()
      let waiting = try await program.run("quarantine", "list", "--json").objects
      #expect(waiting.map { $0["code"]?.string } == (code.map { [$0] } ?? []))
      guard code != nil else { return }
      // Set aside, not lost: once somebody vouches, it is read again.
      let replay = ["quarantine", "replay", "--all", "--trust-root", apple.root, "--ocsp"]
      #expect(try await program.run(replay + ["off"]).status == 0)
      #expect(try await program.run("quarantine", "list", "--json").objects.isEmpty)
    }
  }

  /// Apple sends one notification, which is answered 200 whatever becomes of it.
  private func send(_ apple: RunningSimulator, to service: RunningProgram) async throws {
    try await apple.control(
      "destination", "bundleId=\(Self.app)", "environment=Sandbox", "url=\(service.url)/notifications", "version=2")
    let sold = try #require(
      try await apple.purchases(of: Self.app).first { $0["transaction"]?.object?["inAppOwnershipType"] == "PURCHASED" })
    let id = sold["transaction"]?.object?["transactionId"]?.string ?? ""
    try await apple.control(
      "act", "act=requestRefund", "transactionId=\(id)", "bundleId=\(Self.app)", "environment=Sandbox")
    let sent = try await apple.control("advance", "milliseconds=60000")
    #expect((sent.first?["waiting"]?.integer ?? 1) == 0, "\(sent)")
  }
}
