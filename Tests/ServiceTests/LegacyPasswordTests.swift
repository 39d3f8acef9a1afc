@testable import Intake
@testable import Service

@Suite struct `The shared secret of a V1 body` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private let key = MasterKey.generate()

  private func redacted(_ text: String) -> String {
    String(decoding: LegacyPassword.redacted(Array(text.utf8), key: key), as: UTF8.self)
  }

  private func code(_ secret: String) -> String {
    "hmac-sha256:\(key.id):\(key.code(for: Array(secret.utf8), purpose: "v1 password").hex)"
  }

  @Test(arguments: [
    #"{"notification_type":"CANCEL","password":"SECRET","bid":"a"}"#, #"{"password":"SECRET"}"#,
    "{ \"password\" \t:\r\n \"SECRET\" ,\"n\":1.50}", #"{"bid":"\u0061/\/","password":"SECRET"}"#,
    #"{"a":"password","b":[1,null,{}],"password":"SECRET"}"#, #"{"a":"\"password\":","password":"SECRET"}"#,
  ])
  func `is replaced by its code, and nothing else changes`(body: String) {
    let written = body.replacing("SECRET", with: Self.secret)
    #expect(redacted(written) == body.replacing("SECRET", with: code(Self.secret)))
  }

  /// What looks like it in the bytes alone is none of it.
  @Test(arguments: [
    #"{"a":":\"abc","password":"abc"}"#, #"{"a":"\\\":\"abc","password":"abc"}"#, #"{"abc":1,"password":"abc"}"#,
    #"{"a":"x:","password":"abc"}"#, #"{"a":["b", "c"], "password" : "abc"}"#,
  ])
  func `is told from texts that end like it`(body: String) throws {
    var expected = try #require(JSONReader.read(Array(body.utf8)).object)
    expected["password"] = .string(code("abc"))
    var kept = try #require(JSONReader.read(Array(redacted(body).utf8)).object)
    kept["password"] = (kept["password"]?.string).map { .string($0.replacing(":rewritten", with: "")) }
    #expect(kept == expected)
  }

  /// However many digits stand around it: nothing is taken for a secret that is none.
  @Test(arguments: ["a", "ab", "0123456789abcdef" + "f1e2d3c4b5a69788"])
  func `is told from a megabyte of other digits`(digits: String) {
    let secrets = SecretFilter([Array(Self.secret.utf8)])
    let text = String(repeating: digits, count: (1 << 20) / digits.count)
    let body = Array("{\"x\":\"\(text)\"}".utf8)
    #expect(LegacyPassword.redacted(body, key: key, secrets: secrets) == body)
    let ending = Array("{\"x\":\"\(text)\(Self.secret)\"}".utf8)
    let found = LegacyPassword.redacted(ending, key: key, secrets: secrets)
    #expect(found == Array("{\"x\":\"\(text)\(HiddenSecrets.marker)\"}".utf8))
  }

  /// As JWS within JWS are stored: decoded, to the depth of `CompactBody`.
  @Test(arguments: 1...4) func `of a registered app is found in a JWS within others`(depth: Int) {
    let head = String(repeating: "h", count: 300)
    let tail = String(repeating: "A", count: 86)
    var token = "{\"a\":\"\(Self.secret)\"}"
    for level in 0..<depth {
      let payload = level == 0 ? token : "{\"signed\":\"\(token)\"}"
      token = "\(head).\(String(decoding: Base64.url.encode(Array(payload.utf8)), as: UTF8.self)).\(tail)"
    }
    let body = Array("{\"x\":\"\(token)\"}".utf8)
    #expect(CompactBody(body).bytes.firstRange(of: Array(Self.secret.utf8)) != nil)
    #expect(HiddenSecrets.mayBe(encodedIn: body))
    let kept = LegacyPassword.redacted(body, key: key, secrets: SecretFilter([Array(Self.secret.utf8)]))
    #expect(CompactBody(kept).bytes.firstRange(of: Array(Self.secret.utf8)) == nil)
    #expect(LegacyPassword.redacted(body, key: key) == body)
  }

  /// JSON in strings in strings, deeper than it is read.
  @Test func `leaves a text alone in which nothing is assigned to the word`() {
    var text = "the password page"
    for _ in 0..<6 { text = String(decoding: JSONValue.array([.string(text)]).encoded(), as: UTF8.self) }
    #expect(redacted(text) == text)
  }

  @Test(arguments: [
    // Decoys before and after the real one, at any depth, in lists.
    #"{"a":{"password":"SECRET"},"password":"SECRET"}"#, #"{"password":"SECRET","a":[{"b":{"password":"SECRET"}}]}"#,
    #"{"a":{"password":"other"},"password":"SECRET"}"#, #"{"a":{"password":"SECRET"}}"#,
    // As text that looks like a member.
    #"{"a":"\"password\":\"x\"","password":"SECRET"}"#,
    // Escapes in name and value.
    #"{"p\u0061ssword":"SECRET"}"#, #"{"password":"\u0035SECRET"}"#,
    #"{"a":{"password":"SECRET"},"\u0070assword":"SECRET"}"#,
    #"{"signedPayload":"a.b.c","password":"SECRET"}"#,
  ])
  func `never remains anywhere`(body: String) throws {
    let written = body.replacing("SECRET", with: Self.secret)
    let kept = redacted(written)
    #expect(!kept.contains(Self.secret))
    let values = try #require(JSONReader.read(Array(kept.utf8)).object)
    #expect(!String(decoding: JSONValue.object(values).encoded(), as: UTF8.self).contains(Self.secret))
    #expect(kept.contains("hmac-sha256:"))
    #expect(redacted(written) == kept)
    #expect(values.map(\.key) == (try JSONReader.read(Array(written.utf8)).object?.map(\.key)))
  }

  @Test func `that is a number is one all the same`() {
    let kept = redacted(#"{"password":1234567,"x":1234567.5}"#)
    #expect(kept == #"{"password":"\#(code("1234567")):rewritten","x":1234567.5}"#)
  }

  @Test(arguments: [
    #"{"notification_type":"CANCEL"}"#, #"{"password":null}"#, #"{"password":true}"#, #"{"a":"password"}"#, "[]", "",
    "no JSON", #"{"a":"the password is long","Passwords":"x"}"#, #"{"a":"password: "}"#,
    #"{"id":"0123456789abcdef0123456789abcdef","more":"0123456789abcdef0123456789abcdef0"}"#,
  ])
  func `that is not there leaves the body as it came`(body: String) { #expect(redacted(body) == body) }

  /// Nested otherwise, in other case, in longer texts: nothing that Apple sends.
  @Test(arguments: [
    #"{"Password":"SECRET"}"#, #"{"PASSWORD":12345678}"#, #"{"password":["SECRET",["SECRET"]]}"#,
    #"{"password":{"a":"SECRET","b":{"password":"SECRET"}}}"#, #"{"a":"{\"password\":\"SECRET\"}"}"#,
    #"{"a":"{\"password\":[\"SECRET\",\"SECRET\"]}"}"#, #"{"a":"x {\"password\" : \"SECRET\", y"}"#,
    #"{"a":"user=1&PassWord=SECRET&b=2"}"#, #"{"a":"{\"b\":\"{\\\"password\\\":\\\"SECRET\\\"}\"}"}"#,
    #"["password=SECRET"]"#, #"{"password":1,"PassWord":{"a":["SECRET"]}}"#,
  ])
  func `is found where Apple never puts it, too`(body: String) throws {
    let written = body.replacing("SECRET", with: Self.secret)
    let kept = redacted(written)
    #expect(!kept.contains(Self.secret) && !kept.contains("12345678") && kept.contains(HiddenSecrets.marker))
    #expect(redacted(written) == kept && (try? JSONReader.read(Array(kept.utf8))) != nil)
    #expect(HiddenSecrets.mayBe(in: Array(written.utf8)))
  }

  @Test(arguments: [
    #"{"bid":"SECRET"}"#, #"{"a":"xSECRETy"}"#, #"{"a":"00SECRETff"}"#,
    #"{"a":["\u0035SHORT"]}"#, #"{"signedPayload":"a.SECRET.c"}"#, "SECRET and no JSON", "a.SECRET.c",
    #"{"a":"x5EC7E75EC7e75ec7e75ec7e75ec7e75ey"}"#,
  ])
  func `of a registered app is found without being called a password`(body: String) {
    let written = body.replacing("SECRET", with: Self.secret).replacing("SHORT", with: Self.secret.dropFirst())
    let secrets = SecretFilter([Array(Self.secret.utf8)])
    let kept = LegacyPassword.redacted(Array(written.utf8), key: key, secrets: secrets)
    #expect(!String(decoding: kept, as: UTF8.self).lowercased().contains(Self.secret.dropFirst()))
    #expect(kept.firstRange(of: Array(HiddenSecrets.marker.utf8)) != nil)
    #expect(HiddenSecrets.mayBe(in: Array(written.utf8)))
  }

  /// A registered secret is one wherever it stands; of any other text only its place says that it is one.
  @Test func `that is registered is found where it is repeated, and one that is not is left there`() throws {
    let body = #"{"password":"SECRET","shared":"SECRET","list":["SECRET",{"x":"before SECRET after"}]}"#
      .replacing("SECRET", with: Self.secret)
    let secrets = SecretFilter([Array(Self.secret.utf8)])
    let kept = LegacyPassword.redacted(Array(body.utf8), key: key, secrets: secrets)
    #expect(kept.firstRange(of: Array(Self.secret.utf8)) == nil)
    let object = try #require(JSONReader.read(kept).object)
    #expect(object["password"] == .string(code(Self.secret) + ":rewritten"))
    #expect(object["shared"] == .string(HiddenSecrets.marker))
    let ofApple = #""password":"SECRET""#
    let coded = ofApple.replacing("SECRET", with: code(Self.secret))
    #expect(redacted(body) == body.replacing(ofApple.replacing("SECRET", with: Self.secret), with: coded))
  }

  /// Apple's names are known; whatever is left of such a one could be the name of another member.
  @Test func `of a registered app as the name of a member takes the member along`() {
    let body = #"{"a":1,"SECRET":{"b":2},"c":[{"xSECRET":"y"}],"[redacted]":3}"#.replacing("SECRET", with: Self.secret)
    let secrets = SecretFilter([Array(Self.secret.utf8)])
    let kept = LegacyPassword.redacted(Array(body.utf8), key: key, secrets: secrets)
    #expect(kept == Array(#"{"a":1,"c":[{}],"[redacted]":3}"#.utf8))
  }

  /// Nobody can tell where its value ends.
  @Test(arguments: [
    (#"{"password":"x","a":1,}"#, #"{"password":"[redacted]"#), ("PassWord = x y z", "PassWord = [redacted]"),
    ("a password page", "a password page"), ("password password=", "password password="),
  ])
  func `in a body that is no JSON leaves nothing of what follows it`(body: String, kept: String) {
    #expect(redacted(body) == kept)
    #expect(redacted(kept) == kept)
  }

  /// A row of digits begins anywhere.
  @Test func `is seen wherever it begins`() {
    for start in 0..<70 {
      let text = String(repeating: "-", count: start) + Self.secret + "-"
      #expect(HiddenSecrets.hasDigits(in: Array(text.utf8)))
      #expect(!HiddenSecrets.hasDigits(in: Array(text.replacing(Self.secret, with: Self.secret.dropLast() + "-").utf8)))
    }
  }

  @Test func `reaches neither tables nor log by evidence, by a bundle id or by a URL`() async throws {
    try await RunningService.with { service in
      try await service.register(secret: Self.secret)
      let row: JSONObject = [
        "transaction_id": "1", "original_transaction_id": "1", "purchase_date_ms": "1770000000000",
        "product_id": "monthly",
      ]
      let answer: JSONObject = [
        "status": 0, "environment": "Sandbox", "password": .string(Self.secret), "Password": [.string(Self.secret)],
        "note": .string("password=\(Self.secret); x\(Self.secret)"),
        "receipt": ["bundle_id": .string(RunningService.app), "receipt_type": "ProductionSandbox", "in_app": []],
        "latest_receipt_info": [.object(row)],
      ]
      let taken = try await service.post("/v1/evidence", answer.encoded(), token: service.token)
      #expect(taken.body["status"] == "stored", "\(taken)")
      let other = "fedcba9876543210fedcba9876543210"
      try await service.register(secret: other.uppercased(), name: "other")
      // As soon as the service knows the secrets.
      let isKnown = try await eventually(within: .seconds(60)) {
        try await service.post("/v1/evidence?userId=\(other)", answer.encoded(), token: service.token).status == 400
      }
      #expect(isKnown)
      for (path, bid) in [("", Self.secret), ("", other), ("/\(other)", RunningService.app), ("/\(Self.secret)", "a")] {
        let body: JSONObject = ["notification_type": "CANCEL", "bid": .string(bid), "environment": "Sandbox"]
        let set = try await service.post("/notifications" + path, body.encoded())
        // The two bundle ids leave the same body.
        #expect(set.body["status"]?.string?.hasPrefix("quarantined") == true, "\(set)")
      }
      let secrets = [Self.secret, other].map { Array($0.utf8) }
      try await service.pool.read { session throws(DatabaseError) in
        let kept = try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 9, in: session)
        let texts =
          try InboxTable.newest(limit: 9, digestPrefix: nil, in: session).map(\.message.body)
          + kept.map { $0.message.body + Array($0.detail.utf8) + Array($0.claimedApp.utf8) }
        #expect(texts.count > kept.count && !kept.isEmpty)
        for text in texts {
          for secret in secrets { #expect(text.firstRange(of: secret) == nil) }
        }
      }
      for record in service.log.records {
        let line = "\(record)"
        #expect(!line.contains(Self.secret) && !line.contains(other), "\(line)")
      }
    }
  }

  @Test func `that is empty touches no other empty text`() {
    #expect(redacted(#"{"a":"","password":""}"#).hasPrefix(#"{"a":"","password":"hmac-sha256:"#))
  }

  private func backAgain(_ text: String, _ secrets: String...) -> LegacyPassword.Restored? {
    let keys = Keyring(current: .generate(), previous: [key])
    return LegacyPassword.restored(
      LegacyPassword.redacted(Array(text.utf8), key: key), secrets: secrets.map { Array($0.utf8) }, keys: keys)
  }

  @Test(arguments: [
    "{ \"password\" \t:\r\n \"SECRET\" ,\"n\":1.50}", #"{"bid":"\u0061/\/","password":"SECRET","x":1e3}"#,
    #"{"a":"\"password\":","password":"SECRET"}"#, #"{"ü":"\ud83d\ude00 日本","password":"SECRET"}"#, #"{"a":1}"#,
    "no JSON",
    #"{"unified_receipt":{"password":"SECRET"}}"#, #"{"p\u0061ssword" : "SECRET"}"#,
  ])
  func `is put back byte for byte, also after the master key has changed`(body: String) {
    let written = body.replacing("SECRET", with: Self.secret)
    let restored = backAgain(written, "another", Self.secret)
    #expect(restored == LegacyPassword.Restored(body: Array(written.utf8), isAsReceived: true))
  }

  @Test(arguments: [
    #"{"a":{"password":"SECRET"},"password":"SECRET"}"#, #"{ "password":"\u0035SECRET" }"#,
    #"{"shared":"SECRET", "password":"SECRET"}"#,
  ])
  func `is put back into the same JSON where the body had to be written anew, and it says so`(body: String) throws {
    let written = body.replacing("SECRET", with: Self.secret)
    let restored = try #require(backAgain(written, Self.secret, "5" + Self.secret))
    #expect(!restored.isAsReceived)
    let (again, before) = (try JSONReader.read(restored.body), try JSONReader.read(Array(written.utf8)))
    #expect(again == before)
  }

  @Test func `is not guessed at when it is not among the known ones`() {
    #expect(backAgain(#"{"password":"x"}"#, Self.secret) == nil)
    #expect(backAgain(#"{"a":{"password":"y"}}"#, "x") == nil)
  }

  /// Whoever has the shared secret could otherwise make messages that cannot be forwarded, and that others wait for.
  @Test func `is put back although an unknown one stands elsewhere in the body, as Apple writes none`() throws {
    let restored = try #require(backAgain(#"{"password":"x","a":{"password":"y"}}"#, "x"))
    let object = try #require(JSONReader.read(restored.body).object)
    #expect(object["password"] == "x" && !restored.isAsReceived)
    #expect(object["a"]?.object?["password"]?.string?.hasPrefix("hmac-sha256:") == true)
  }

  @Test func `cannot be replaced by its code, should a stranger have seen one`() throws {
    let seen = code(Self.secret)
    let body = redacted(#"{"password":"\#(seen)"}"#)
    let object = try #require(JSONReader.read(Array(body.utf8)).object)
    let known = SecretCode(of: Array(Self.secret.utf8), under: key)
    #expect(!body.contains(seen) && LegacyPassword.code(in: object)?.matches(known) == false)
  }

  @Test func `is of one code for one key, of another for another`() {
    let body = Array(#"{"password":"\#(Self.secret)"}"#.utf8)
    #expect(LegacyPassword.redacted(body, key: key) == LegacyPassword.redacted(body, key: key))
    #expect(LegacyPassword.redacted(body, key: key) != LegacyPassword.redacted(body, key: .generate()))
  }

  /// Whether the signature beside it is good or bad.
  @Test func `is not kept beside a signed payload either`() async throws {
    try await RunningService.with { service in
      let signed = try #require(JSONReader.read(service.notification()).object)
      let forged: JSONObject = ["signedPayload": "a.b.c"]
      let strange = try #require(
        JSONReader.read(service.notification(signedBy: .generate(at: RunningService.now))).object)
      for (index, body) in [signed, strange, forged].enumerated() {
        var body = body
        body["password"] = .string(Self.secret)
        let answer = try await service.post("/notifications", body.encoded())
        #expect(answer.status == 200)
        #expect(answer.body["status"] == ["stored", "quarantined", "quarantined"][index])
      }
      let secret = Array(Self.secret.utf8)
      try await service.pool.read { session throws(DatabaseError) in
        let bodies =
          try InboxTable.newest(limit: 9, digestPrefix: nil, in: session).map(\.message.body)
          + QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 9, in: session).map(\.message.body)
        #expect(bodies.count == 3)
        for body in bodies { #expect(body.firstRange(of: secret) == nil) }
      }
    }
  }
}
