@Suite struct `switchyard jws verify` {
  private let place = TemporaryDirectory()
  private let program = Program()
  private let fixtures: SignedFixtures

  init() throws { fixtures = try SignedFixtures() }

  private func verify(_ input: some Sequence<UInt8>, _ options: String...) async throws -> Program.Outcome {
    try await program.run(
      ["jws", "verify", "--json", "--root", fixtures.root(in: place)] + options + ["-"], input: Array(input))
  }

  @Test func `tells each kind of payload`() async throws {
    let app: JSONObject = [
      "receiptType": "Sandbox", "bundleId": .string(SignedFixtures.bundleID),
      "receiptCreationDate": .integer(SignedFixtures.signedAt), "originalApplicationVersion": "1.0",
    ]
    for (payload, kind) in [
      (fixtures.transaction, "transaction"), (fixtures.renewal, "renewal"), (app, "appTransaction"),
    ] {
      let outcome = try await verify(fixtures.jws(payload).utf8)
      #expect(outcome.status == 0, "\(outcome)")
      let object = try #require(try outcome.objects.first)
      #expect(object["kind"] == .string(kind))
      #expect(object["payload"] == .object(payload))
      #expect(object["signedAt"] == .integer(SignedFixtures.signedAt))
      #expect(object["environment"] == "Sandbox")
      #expect(object["root"] == .string(fixtures.pki.root.certificate.fingerprint.hex))
    }
  }

  @Test func `decodes what is inside a notification`() async throws {
    let notification = try fixtures.notification()
    let outcome = try await verify(fixtures.body(notification), "--app", SignedFixtures.bundleID)
    #expect(outcome.status == 0, "\(outcome)")
    let object = try #require(try outcome.objects.first)
    #expect(object["kind"] == "notification")
    #expect(object["payload"] == .object(notification))
    #expect(object["transaction"] == .object(fixtures.transaction))
    #expect(object["renewal"] == .object(fixtures.renewal))
    #expect(object["appTransaction"] == .null)
  }

  @Test func `takes bodies over several lines, and one a line`() async throws {
    let jws = try fixtures.jws(fixtures.transaction)
    let indented = try await verify("{\n  \"signedPayload\":\n    \"\(jws)\"\n}\n".utf8)
    #expect(indented.status == 0, "\(indented)")
    #expect(try indented.objects.count == 1)
    let lines = try await verify("\(jws)\r\n\n{\"signedPayload\":\"\(jws)\"}\n".utf8)
    #expect(lines.status == 0, "\(lines)")
    #expect(try lines.objects.map { $0["line"] } == [1, 3])
  }

  @Test(arguments: [("good", Int32(0)), ("bad", 1), ("good bad", 3), ("bad bad", 3), ("good good", 0)])
  func `ends with what became of all`(words: String, status: Int32) async throws {
    let lines = words.split(separator: " ")
    let good = try fixtures.jws(fixtures.transaction)
    let bad = String(good.dropLast(4)) + "AAAA"
    let text = lines.map { $0 == "good" ? good : bad }.joined(separator: "\n")
    let outcome = try await verify(text.utf8)
    #expect(outcome.status == status, "\(outcome)")
    let objects = try outcome.objects
    #expect(objects.count == lines.count)
    for (object, line) in zip(objects, lines) {
      #expect(object["error"]?.object?["code"] == (line == "good" ? nil : "badSignature"))
    }
  }

  @Test(arguments: [
    (["--bundle-id", "com.example.other"], "wrongBundle"), (["--environment", "Production"], "wrongEnvironment"),
    (["--app-apple-id", "1"], "wrongAppAppleId"),
  ])
  func `refuses what says something else than it was told`(options: [String], code: String) async throws {
    let body = try fixtures.body(fixtures.notification())
    let outcome = try await program.run(
      ["jws", "verify", "--json", "--root", fixtures.root(in: place)] + options + ["-"], input: body)
    #expect(outcome.status == 1)
    #expect(try outcome.objects.first?["error"]?.object?["code"] == .string(code))
  }

  @Test(arguments: [
    ("hello", "notAJWS"), ("{\"signedPayload\":", "notJSON"), ("{\"password\":\"x\"}", "noSignedPayload"),
    ("[1]", "noSignedPayload"), ("a.b.c", "missingCertificates"), ("", "emptyInput"), (" \n\t\n", "emptyInput"),
  ])
  func `gives each piece of rubbish its reason`(input: String, code: String) async throws {
    let outcome = try await verify(input.utf8)
    #expect(outcome.status == 1)
    let seen = try outcome.objects.first?["error"]?.object?["code"]?.string
    // What cannot be decoded may be refused at any of the first steps.
    #expect(seen == code || (input == "a.b.c" && seen != nil), "\(outcome)")
  }

  @Test func `trusts Apple's root alone unless told otherwise`() async throws {
    let outcome = try await program.run(
      "jws", "verify", "--json", "-", input: Array(try fixtures.jws(fixtures.transaction).utf8))
    #expect(outcome.status == 1)
    #expect(try outcome.objects.first?["error"]?.object?["code"] == "unknownRoot")
  }

  @Test func `takes roots as PEM, and says when a file holds none`() async throws {
    let pem =
      "-----BEGIN CERTIFICATE-----\n"
      + String(decoding: Base64.standard.encode(fixtures.pki.root.certificate.der), as: UTF8.self)
      + "\n-----END CERTIFICATE-----\n"
    let input = place.file("transaction.jws", Array(try fixtures.jws(fixtures.transaction).utf8))
    let good = try await program.run("jws", "verify", "--root", place.file("root.pem", Array(pem.utf8)), input)
    #expect(good.status == 0, "\(good)")
    #expect(good.output.hasPrefix("VERIFIED transaction of Sandbox"))
    let bad = try await program.run("jws", "verify", "--root", input, input)
    #expect(bad.status == 1)
    #expect(bad.notes.contains("no root certificate"))
    let absent = try await program.run("jws", "verify", "--root", "\(place.path)/absent", input)
    #expect(absent.status == 1)
    #expect(absent.notes.contains("there is no file"))
  }

  @Test func `refuses unsigned test data unless allowed, and never beside Production`() async throws {
    var transaction = fixtures.transaction
    transaction["environment"] = "Xcode"
    let header = Base64.url.encode(Array("{\"alg\":\"ES256\",\"x5c\":[]}".utf8))
    let payload = Base64.url.encode(transaction.encoded())
    let jws = header + [UInt8(ascii: ".")] + payload + Array(".AAAA".utf8)
    let refused = try await program.run("jws", "verify", "--json", "--environment", "Xcode", "-", input: jws)
    #expect(refused.status == 1)
    #expect(try refused.objects.first?["error"]?.object?["code"] == "unsignedTestData", "\(refused)")
    let allowed = try await program.run("jws", "verify", "--json", "--allow-unsigned-test-data", "-", input: jws)
    #expect(allowed.status == 0, "\(allowed)")
    #expect(try allowed.objects.first?["unsignedTestData"] == true)
    let other = try await program.run(
      "jws", "verify", "--json", "--allow-unsigned-test-data", "--environment", "LocalTesting", "-", input: jws)
    #expect(try other.objects.first?["error"]?.object?["code"] == "wrongEnvironment")
    let production = try await program.run(
      "jws", "verify", "--allow-unsigned-test-data", "--environment", "Production", "-", input: jws)
    #expect(production.status == 2)
  }

  @Test func `shows fields that this build does not know`() async throws {
    var transaction = fixtures.transaction
    transaction["invention"] = 1
    let outcome = try await verify(fixtures.jws(transaction).utf8)
    #expect(try outcome.objects.first?["survey"]?.object?["unknownFields"] == ["invention"])
  }
}
