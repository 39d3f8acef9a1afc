/// Recognisable secrets are sent by every way in; then everything that is kept or said is searched for them.
@Suite struct SecretStory {
  /// A shared secret of the registered app.
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  /// Called a password, and registered nowhere.
  private static let password = "Recognisable-Password-42"
  private static let app = SignedFixtures.bundleID
  /// The exit statuses other than 0, by the beginning of the command.
  private static let statuses: [String: Int32] = ["explain \(app) \(secret)": 1, "quarantine replay": 3]

  @Test func `is in no file, log, list, metric or error`() async throws {
    let fixtures = try SignedFixtures()
    let client = HTTPClient()
    try await Inbox.with(answer: Self.respond) { back, url in
      try await PrivateInstallation.with { installation in
        let said = try await Self.attack(installation, fixtures, back: url, client)
        // Stopped cleanly: what is on disk now is what a backup takes.
        #expect(await eventually(within: .seconds(60)) { installation.processes.isEmpty })
        var places = said
        for path in Self.files(below: "\(installation.place.path)/data") {
          places.append((path, Files.contents(of: path, limit: 256 << 20) ?? []))
        }
        #expect(places.contains { $0.0.hasSuffix("/quarantine.ibd") })
        #expect(places.contains { $0.0.contains("/bodies#P#") })
        for (place, bytes) in places {
          // Who has the key may see a body as it came, but for the registered secrets and for what is called a password.
          let isShown = place.hasPrefix("quarantine list ") && !place.hasSuffix("--json") || place.hasSuffix("--bodies")
          for secret in isShown ? [Self.secret] : [Self.secret, Self.password] {
            let found = Self.place(of: Array(secret.utf8), in: bytes)
            let context = found.map { bytes[max(0, $0 - 80)..<min(bytes.count, $0 + 80)] } ?? []
            #expect(found == nil, "\(place): \(String(decoding: context, as: UTF8.self))")
          }
        }
      }
      // The destination alone gets it.
      #expect(back.posts.contains { $0.body.firstRange(of: Array(Self.secret.utf8)) != nil })
    }
    await client.shutdown()
  }

  /// Apple's verifyReceipt, and a destination that refuses some messages and repeats its requests.
  private static func respond(to request: HTTPRequest, count: Int) -> HTTPResponse {
    if request.path == "/verify" {
      return HTTPResponse(status: 200, body: Array(#"{"status":21003,"environment":"Sandbox"}"#.utf8))
    }
    return HTTPResponse(status: [200, 403, 500][count % 3], body: request.body)
  }

  /// Sends and asks everything; what was answered, said and logged.
  private static func attack(
    _ installation: PrivateInstallation, _ fixtures: SignedFixtures, back: String, _ client: HTTPClient
  ) async throws -> [(String, [UInt8])] {
    let (program, place) = (installation.program, installation.place)
    var said: [(String, [UInt8])] = []
    func run(_ arguments: String..., input: [UInt8] = []) async throws -> Program.Outcome {
      let outcome = try await program.run(arguments, input: input)
      said.append((arguments.joined(separator: " "), Array((outcome.output + outcome.notes).utf8)))
      return outcome
    }
    let root = fixtures.root(in: place)
    #expect(try await run("app", "add", app).status == 0)
    let file = place.file("secret", Array(secret.utf8))
    #expect(try await run("app", "secret", app, "--shared-secret-file", file).status == 0)
    for environment in ["Sandbox", "Production"] {
      let url = "\(back)/apple"
      #expect(try await run("app", "legacy-url", app, url, "--environment", environment).status == 0)
    }
    let made = try await run("app", "token", app, "--json")
    let token = try #require(try made.objects.first?["token"]?.string)
    let serving = try await installation.serve([
      "--trust-root", root, "--log-level", "debug", "--verify-receipt-url", "\(back)/verify",
      "--verify-receipt-sandbox-url", "\(back)/verify",
    ])
    for (index, way) in try ways(fixtures).enumerated() {
      let request = ClientRequest(
        method: way.method, url: serving.url + way.path,
        headers: way.isOfApp ? [("Authorization", "Bearer \(token)")] : [], body: way.body)
      let answer = try await client.send(request)
      let (path, status) = (way.path.prefix(30), answer.status)
      #expect(
        way.isTaken.map { $0 == (status == 200) } ?? true, "\(index) \(path): \(status) \(Self.text(answer.body))")
      // A caller may hear its own path again.
      if !way.path.contains(secret) { said.append(("answer to \(index) \(path)", answer.body)) }
    }
    let metrics = try await client.send(ClientRequest(url: serving.url + "/metrics"))
    said.append(("metrics", metrics.body))
    for command in [
      ["inbox", "show", "--limit", "1000"], ["inbox", "show", "--limit", "1000", "--bodies"],
      ["inbox", "show", "--limit", "1000", "--json"], ["quarantine", "list"], ["quarantine", "list", "--json"],
      ["outbox", "list"], ["outbox", "list", "--json"], ["outbox", "dead", "--all", "--dry-run", "--json"],
      ["db", "dump"], ["db", "status"], ["seeds", "status", app, "--ids", "--json"], ["app", "list", app],
      ["app", "secret", app, "--json"], ["doctor"], ["explain", app, "77001"], ["explain", app, secret],
      ["quarantine", "replay", "--all", "--trust-root", root], ["db", "rebuild", "--trust-root", root],
    ] {
      let outcome = try await program.run(command)
      let words = command.joined(separator: " ")
      let status = statuses.first { words.hasPrefix($0.key) }?.value ?? 0
      #expect(outcome.status == status, "\(words): \(outcome.notes)")
      // It names what it was asked for.
      if command.contains(secret) { continue }
      said.append((words, Array((outcome.output + outcome.notes).utf8)))
    }
    #expect(try await program.run("inbox", "show", "--limit", "1000", "--json").objects.count > 40)
    let set = try await program.run("quarantine", "list", "--limit", "1000", "--json").objects
    #expect(set.count > 20)
    for row in set.prefix(12) {
      guard let digest = row["digest"]?.string else { continue }
      _ = try await run("quarantine", "list", digest)
    }
    _ = try await run("convert", "-", input: ways(fixtures)[0].body)
    #expect(await serving.end(SIGTERM) == 0)
    said.append(("log", Array(serving.notes.utf8)))
    return said
  }

  /// A request, and whether it is to be answered 200; nil: either.
  private struct Way {
    var method = "POST"
    var path = "/notifications"
    var body: [UInt8] = []
    var isOfApp = false
    var isTaken: Bool? = true
  }

  private static func ways(_ fixtures: SignedFixtures) throws -> [Way] {
    var ways: [Way] = []
    // V1, with the right secret where Apple puts it, and both elsewhere.
    let strange: [(String, JSONValue)] = [
      ("plain", .string(password)), ("Password", .string(password)), ("passWord", .string(secret)),
      ("PASSWORD", [.string(password)]),
      ("a", ["password": .string(password)]), ("b", [["passWord": [.string(password), [.string(secret)]]]]),
      ("c", .string("{\"password\":\"\(secret)\"}")), ("d", .string("user=1&password=\(secret)&x=\(secret)")),
      ("e", .string("x\(secret)y")), (secret, "key"), ("f", ["\(secret)x": .string(secret)]),
      ("auto_renew_product_id", .string(secret)),
    ]
    for (index, (key, value)) in strange.enumerated() {
      for isRight in [true, false] {
        var body = notification(index)
        body["password"] = .string(isRight ? secret : password)
        if key != "plain" { body[key] = value }
        ways.append(Way(body: body.encoded()))
      }
    }
    for bid in [secret, "x\(secret)", "\(secret).app"] {
      var body = notification(90)
      body["bid"] = .string(bid)
      ways.append(Way(body: body.encoded()))
      ways.append(Way(path: "/notifications/\(bid)", body: notification(91).encoded()))
      // V2, forged and signed: as the app, and as any text of it.
      var payload = try fixtures.notification(uuid: "signed \(ways.count)")
      var data = payload["data"]?.object ?? [:]
      data["bundleId"] = .string(bid)
      payload["data"] = .object(data)
      ways.append(Way(body: try fixtures.body(payload)))
      payload[secret] = .string(secret)
      ways.append(Way(body: try SignedFixtures().body(payload)))
      ways.append(
        Way(path: "/notifications/\(bid)", body: try fixtures.body(fixtures.notification(uuid: "path \(ways.count)"))))
    }
    var wrapped: JSONObject = ["signedPayload": .string(try fixtures.jws(fixtures.notification(uuid: "w")))]
    wrapped["password"] = .string(password)
    wrapped["x"] = .string(secret)
    ways.append(Way(body: wrapped.encoded()))
    for text in [
      "password=\(password)&s=\(secret)", "{\"password\":\"\(password)\"", "\"\(secret)\"", "a.\(secret).c",
      "{\"password\":\"\(password)\"}", "{\"p\\u0061ssword\":\"\(password)\"}", "[\"password=\(password)\"]",
    ] {
      ways.append(Way(body: Array(text.utf8), isTaken: nil))
    }
    // Evidence of each kind, a secret in it or beside it.
    let row: JSONObject = [
      "transaction_id": "77001", "original_transaction_id": "77001", "purchase_date_ms": "1770000000000",
      "product_id": "monthly",
    ]
    let answer: JSONObject = [
      "status": 0, "environment": "Sandbox",
      "receipt": ["bundle_id": .string(app), "receipt_type": "ProductionSandbox", "in_app": []],
      "latest_receipt_info": [.object(row)],
    ]
    let signed = JSONValue.string(try fixtures.jws(fixtures.transaction))
    let kinds: [JSONObject] = [
      answer, ["signedTransactions": [signed], "environment": "Sandbox", "bundleId": .string(app)],
      ["signedTransactionInfo": signed], ["originalTransactionId": "77002", "environment": "Sandbox"], notification(50),
    ]
    // Stored bodies hold the payloads of JWS in clear, whoever signed them.
    let header = Self.base64(Array(repeating: UInt8(ascii: "h"), count: 300))
    let hidden =
      "\(header).\(Self.base64(Array("{\"a\":\"\(secret)\"}".utf8))).\(Self.base64(Array(repeating: 7, count: 64)))"
    let ending = "\(header).\(Self.base64(Array("{}".utf8))).\(Self.base64(Array((secret + secret).utf8)))"
    for kind in kinds {
      let more: [(String, JSONValue)] = [
        ("jws", .string(hidden)), ("ending", .string(ending)), ("password", .string(password)),
      ]
      for (key, value) in strange.dropFirst() + more {
        guard key != "auto_renew_product_id" else { continue }
        var body = kind
        body[key] = value
        // A V1 body in which the secret stands a second time is refused.
        let isTaken = kind["notification_type"] == nil ? true : nil
        ways.append(Way(path: "/v1/evidence", body: body.encoded(), isOfApp: true, isTaken: isTaken))
      }
      var body = kind
      body["userId"] = .string("user-\(secret)")
      ways.append(Way(path: "/v1/evidence", body: body.encoded(), isOfApp: true, isTaken: nil))
      ways.append(Way(path: "/v1/evidence?userId=\(secret)", body: kind.encoded(), isOfApp: true, isTaken: nil))
    }
    ways.append(
      Way(path: "/v1/evidence", body: Array("password=\(password)&s=\(secret)".utf8), isOfApp: true, isTaken: false))
    // verifyReceipt, whose answer holds nothing of the request; an answer that does is Apple's own.
    for path in ["/verifyReceipt", "/sandbox/verifyReceipt"] {
      let body: JSONObject = ["receipt-data": "MIIB", "password": .string(secret), "x": .string(password)]
      ways.append(Way(path: path, body: body.encoded()))
    }
    // Looked for, and at no path of ours.
    for path in [
      "/v1/apps/\(app)/purchases/\(secret)", "/\(secret)", "/v1/apps/\(secret)/customers/1", "/metrics?x=\(secret)",
    ] {
      ways.append(Way(method: "GET", path: path, isOfApp: true, isTaken: nil))
    }
    return ways
  }

  private static func notification(_ number: Int) -> JSONObject {
    let row: JSONObject = [
      "quantity": "1", "product_id": "monthly", "transaction_id": .string("3000\(number)"),
      "original_transaction_id": "3000", "purchase_date_ms": "1700000000000",
      "original_purchase_date_ms": "1700000000000", "expires_date_ms": "1800000000000",
    ]
    return [
      "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(app),
      "unified_receipt": [
        "status": 0, "environment": "Sandbox", "latest_receipt_info": .array([.object(row)]),
        "pending_renewal_info": [],
      ],
    ]
  }

  /// By the C library: files of the database have a hundred megabytes.
  private static func place(of secret: [UInt8], in bytes: [UInt8]) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      var place = 0
      while bytes.count - place >= secret.count,
        let found = unsafe memchr(start + place, Int32(secret[0]), bytes.count - place - secret.count + 1)
      {
        place = unsafe UnsafeRawPointer(found) - start
        if unsafe memcmp(found, secret, secret.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }

  private static func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.url.encode(bytes), as: UTF8.self) }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(200), as: UTF8.self) }

  private static func files(below directory: String) -> [String] {
    Files.names(in: directory).sorted().flatMap { name -> [String] in
      let path = "\(directory)/\(name)"
      return Files.names(in: path).isEmpty ? [path] : files(below: path)
    }
  }
}
