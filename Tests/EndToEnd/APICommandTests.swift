/// The API's commands against a scripted Apple.
@Suite struct `The api command` {
  /// Answers by the beginning of the target, in Production and below `/sandbox` alike, and keeps what changed something.
  private final class Apple: HTTPHandler {
    private let answers: [(path: String, answer: HTTPResponse)]
    private let lines = Mutex<[String]>([])

    init(_ answers: [(path: String, answer: HTTPResponse)]) { self.answers = answers }

    var asked: [String] { lines.withLock { $0 } }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      lines.withLock { $0.append("\(request.method) \(request.rawTarget)") }
      return answers.first { request.rawTarget.hasPrefix($0.path) }?.answer ?? .text(401, "")
    }
  }

  private static let pki = try? ApplePKI.generate(at: Timestamp(1_780_000_000_000))

  private static func signed(_ payload: JSONObject) throws -> JSONValue {
    .string(String(decoding: try #require(pki).sign(payload), as: UTF8.self))
  }

  private static func transaction(_ id: String, app: String = "com.example.app") throws -> JSONValue {
    try signed([
      "transactionId": .string(id), "originalTransactionId": "1", "bundleId": .string(app), "productId": "coins",
      "environment": "Production", "signedDate": 1_780_000_000_000, "purchaseDate": 1_780_000_000_000,
    ])
  }

  private static func json(_ object: JSONObject, status: Int = 200) -> HTTPResponse { .json(status, object.encoded()) }

  private func run(
    _ answers: [(path: String, answer: HTTPResponse)],
    _ body: @Sendable (Apple, @Sendable ([String]) async throws -> Program.Outcome) async throws -> Void
  ) async throws {
    let place = TemporaryDirectory()
    let key = place.file("key.p8", try PrivateKey.generate(.p256).pem())
    let root = place.file("root.der", try #require(Self.pki).root.certificate.der)
    let apple = Apple(answers)
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(2)), handler: apple)
    try server.start()
    let options = [
      "--app", "com.example.app", "--issuer", "i", "--key-id", "k", "--key-file", key, "--trust-root", root,
      "--trust-root", "Production=\(root)", "--i-know-this-root-can-make-purchases-count",
      "--base-url", "http://127.0.0.1:\(server.port)",
    ]
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      try await body(apple) { try await Program().run(["api"] + $0 + options) }
    }
  }

  @Test func `tells why Apple does not let an app in`() async throws {
    let unknown = Self.json(["errorCode": 4_040_010, "errorMessage": "Transaction id not found."], status: 404)
    try await run([("/sandbox/inApps/v2/history", unknown)]) { _, api in
      let outcome = try await api(["check"])
      #expect(outcome.status == 0, "\(outcome)")
      #expect(outcome.output.contains("noProductionRelease"))
      let objects = try await api(["check", "--json"]).objects
      #expect(objects.map { $0["verdict"]?.string } == ["noProductionRelease", "keyAccepted"])
      #expect(try await api(["check", "--environment", "Production"]).status == 1)
      #expect(try await api(["check", "2", "--environment", "Sandbox"]).output.contains("keyAccepted"))
    }
  }

  @Test func `refuses a base that is no URL, or the sandbox's`() async throws {
    for base in ["localhost:1", "http://", "http://127.0.0.1:1/sandbox", "https://127.0.0.1:1/sandbox/"] {
      let words = ["api", "check", "--app", "a", "--issuer", "i", "--key-id", "k", "--key-file", "none"]
      let outcome = try await Program().run(words + ["--base-url", base])
      #expect(outcome.status == 2 && outcome.notes.contains("--base-url"), "\(base): \(outcome)")
    }
  }

  @Test func `tells a clock that is wrong from a key that is`() async throws {
    var refused = HTTPResponse.text(401, "")
    refused.headers.append("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
    try await run([("/", refused)]) { _, api in
      let outcome = try await api(["check"])
      #expect(outcome.status == 1 && outcome.output.contains("skewedClock"), "\(outcome)")
      #expect(outcome.output.contains("clock is wrong"))
      let skews = try await api(["check", "--json"]).objects.map { $0["clockSkewSeconds"]?.integer ?? 0 }
      #expect(skews.count == 2 && skews.allSatisfy { $0 > 86_400 }, "ours less Apple's: \(skews)")
    }
    try await run([]) { _, api in
      let objects = try await api(["check", "--json"]).objects
      #expect(objects.map { $0["verdict"] } == ["wrongKeyOrIssuer", "wrongKeyOrIssuer"])
    }
  }

  @Test func `shows what Apple signed, and what it did not as refused`() async throws {
    let page = Self.json([
      "revision": "r1", "hasMore": false,
      "signedTransactions": [try Self.transaction("11"), try Self.transaction("12", app: "com.example.other")],
    ])
    let order = Self.json(["status": 1, "signedTransactions": []])
    try await run([("/inApps/v2/history/1", page), ("/inApps/v1/lookup/M1", order)]) { _, api in
      let outcome = try await api(["history", "1"])
      #expect(outcome.status == 3, "\(outcome)")
      #expect(outcome.output.contains("coins"))
      #expect(!outcome.output.contains("12 "))
      #expect(outcome.notes.contains("wrongBundle"))
      #expect(outcome.notes.contains("continue with revision=r1"))
      let rows = try await api(["history", "1", "--json"]).objects.first?["signedTransactions"]?.array
      #expect(rows?.map { $0.object?["transactionId"]?.string } == ["11", nil])
      #expect(rows?.last?.object?["error"]?.object?["code"] == "wrongBundle")
      let missing = try await api(["order", "M1"])
      #expect(missing.status == 1)
      #expect(missing.notes.contains("no such order"))
    }
  }

  private static func page(_ ids: [String], revision: String, hasMore: Bool) throws -> HTTPResponse {
    json([
      "revision": .string(revision), "hasMore": .bool(hasMore),
      "signedTransactions": .array(try ids.map { try transaction($0) }),
    ])
  }

  @Test func `shows what it saw of a list that breaks off, and where to go on`() async throws {
    let answers = [
      ("/inApps/v2/history/1?revision=r1", HTTPResponse.text(401, "")),
      ("/inApps/v2/history/1", try Self.page(["11"], revision: "r1", hasMore: true)),
      ("/sandbox/inApps/v2/history/1", try Self.page(["12"], revision: "s1", hasMore: false)),
    ]
    try await run(answers) { apple, api in
      let outcome = try await api(["history", "1"])
      #expect(outcome.status == 1, "\(outcome)")
      #expect(outcome.output.contains("11 "))
      #expect(outcome.notes.contains("broken off after 1 in Production; continue with revision=r1"))
      let lines = try await api(["history", "1", "--json"]).objects
      #expect(lines.map { $0["signedTransactions"]?.array?.count } == [1, nil])
      #expect(lines.last?["error"]?.object?["code"] == "unauthorized")
      #expect(!apple.asked.contains { $0.contains("/sandbox/") })
    }
  }

  @Test func `walks through all pages, from where it is told, with what it is told`() async throws {
    let path = "/inApps/v2/history/1?productType=CONSUMABLE&productType=NON_CONSUMABLE"
    let answers = [
      ("\(path)&revision=r1", try Self.page(["12"], revision: "r2", hasMore: true)),
      ("\(path)&revision=r2", try Self.page(["13"], revision: "r3", hasMore: false)),
      (path, try Self.page(["11"], revision: "r1", hasMore: true)),
    ]
    try await run(answers) { _, api in
      let types = ["productType=CONSUMABLE", "productType=NON_CONSUMABLE"]
      let outcome = try await api(["history", "1"] + types)
      #expect(outcome.status == 0 && outcome.notes.contains("3 in Production; continue with revision=r3"), "\(outcome)")
      let rest = try await api(["history", "1"] + types + ["revision=r1"])
      #expect(rest.notes.contains("2 in Production") && !rest.output.contains("11 "), "\(rest)")
    }
  }

  /// Every row of the table is a command: what its path, its query and its body become.
  @Test func `asks any endpoint with what is written under Apple's names`() async throws {
    let place = TemporaryDirectory()
    let picture = place.file("picture.png", [0x89, 0x50, 0x4E, 0x47, 1, 2])
    let body = place.file("body.json", Array(#"{"header":"Stay","body":"There is more."}"#.utf8))
    let calls = [
      (
        ["account-token", "1", "appAccountToken=u"], "PUT /inApps/v1/transactions/1/appAccountToken",
        #"{"appAccountToken":"u"}"#
      ),
      (
        [
          "extend-all", "productId=7", "extendByDays=7", "requestIdentifier=12", #"storefrontCountryCodes=["USA"]"#,
        ], "POST /inApps/v1/subscriptions/extend/mass",
        #"{"productId":"7","extendByDays":7,"requestIdentifier":"12","storefrontCountryCodes":["USA"]}"#
      ),
      (["finish", "1"], "POST /inApps/v1/transactions/1/finish", nil),
      (
        ["message-upload", "m", "--body", body], "PUT /inApps/v1/messaging/message/m",
        #"{"header":"Stay","body":"There is more."}"#
      ),
      (
        ["message-upload-image", "i", "imageSize=FULL_SIZE", "--body", picture],
        "PUT /inApps/v1/messaging/image/i?imageSize=FULL_SIZE", "(6 bytes of PNG)"
      ),
      (["message-unset-url"], "DELETE /inApps/v1/messaging/realtime/url", nil),
    ]
    try await run([]) { apple, api in
      for (words, line, sent) in calls {
        let tried = try await api(words + ["--environment", "Sandbox", "--dry-run"])
        #expect(tried.output == "\(line)\n" + (sent.map { "\($0)\n" } ?? ""), "\(tried)")
      }
      #expect(apple.asked == [])
      _ = try await api([
        "notification-history", "startDate=2026-11-01T00:00:00Z", "transactionId=9", "--environment", "Sandbox",
      ])
      #expect(apple.asked == ["POST /sandbox/inApps/v1/notifications/history"])
      let wrong = try await api(["history", "1", "CONSUMABLE"])
      #expect(wrong.status == 2 && wrong.notes.contains("NAME=VALUE"), "\(wrong)")
    }
  }

  @Test func `does not call extended what Apple does not`() async throws {
    let answers = [("/inApps/v1/subscriptions/extend/1", Self.json(["success": false]))]
    let call = ["extend", "1", "extendByDays=7", "requestIdentifier=r", "--environment", "Production"]
    try await run(answers) { _, api in
      let outcome = try await api(call)
      #expect(outcome.status == 1)
      #expect(outcome.output == "success: false\n")
      #expect(outcome.notes.contains("does not say that it was done"))
      let told = try await api(call + ["--json"])
      #expect(told.status == 1)
      #expect(try told.objects == [["success": false]])
    }
  }

  @Test func `tells of a test notification by one rule, as a table and as JSON`() async throws {
    func status(_ result: String, app: String = "com.example.app") throws -> HTTPResponse {
      let payload: JSONObject = [
        "notificationType": "TEST", "notificationUUID": "u", "signedDate": 1_780_000_000_000,
        "data": ["bundleId": .string(app), "environment": "Sandbox"],
      ]
      return Self.json([
        "signedPayload": try Self.signed(payload),
        "sendAttempts": [["attemptDate": 1_780_000_000_000, "sendAttemptResult": .string(result)]],
      ])
    }
    let path = "/sandbox/inApps/v1/notifications/test/"
    let answers = [
      (path + "good", try status("SUCCESS")), (path + "lost", try status("TIMED_OUT")),
      (path + "foreign", try status("SUCCESS", app: "com.example.other")),
    ]
    try await run(answers) { _, api in
      for (token, code) in [("good", 0), ("lost", 1), ("foreign", 1)] as [(String, Int32)] {
        let call = ["test-notification-status", token, "--environment", "Sandbox"]
        let table = try await api(call)
        let told = try await api(call + ["--json"])
        #expect(table.status == code && told.status == code, "\(token): \(table) \(told)")
        let object = try #require(try told.objects.first)
        #expect((object["signedPayload"]?.object?["notificationType"] == "TEST") == (token != "foreign"))
        #expect(table.notes.contains("REFUSED") == (token == "foreign"))
        #expect(object["sendAttempts"]?.array?.count == 1)
      }
    }
  }

  @Test func `changes nothing without an environment, or when it is only tried`() async throws {
    let answers = [("/inApps/v1/subscriptions/extend/1", Self.json(["success": true, "effectiveDate": 5]))]
    try await run(answers) { apple, api in
      let call = ["extend", "1", "extendByDays=7", "extendReasonCode=0", "requestIdentifier=r"]
      let vague = try await api(call)
      #expect(vague.status == 2)
      #expect(vague.notes.contains("--environment"))
      let tried = try await api(call + ["--environment", "Production", "--dry-run"])
      #expect(tried.status == 0)
      #expect(
        tried.output == """
          PUT /inApps/v1/subscriptions/extend/1
          {"extendByDays":7,"extendReasonCode":0,"requestIdentifier":"r"}

          """)
      #expect(apple.asked == [])
      let done = try await api(call + ["--environment", "Production"])
      #expect(done.status == 0, "\(done)")
      #expect(done.output.contains("success: true"))
      #expect(apple.asked == ["PUT /inApps/v1/subscriptions/extend/1"])
    }
  }

  @Test func `says what Apple's number means, and ends with 7 when it says later`() async throws {
    let later = Self.json(["errorCode": 4_290_000], status: 429)
    var limited = later
    limited.headers.append("Retry-After", "3600")
    let family = Self.json(["errorCode": 4_000_185], status: 400)
    try await run([("/inApps/v1/transactions/1/finish", family), ("/inApps/v1/transactions/2/finish", limited)]) {
      _, api in
      let refused = try await api(["finish", "1", "--environment", "Production"])
      #expect(refused.status == 1)
      #expect(refused.notes.contains("4000185 FamilyTransactionNotSupportedError"))
      let outcome = try await api(["finish", "2", "--environment", "Production", "--json"])
      #expect(outcome.status == 7, "\(outcome)")
      #expect(try outcome.objects.first?["error"]?.object?["errorCode"]?.integer == 4_290_000)
    }
  }

  @Test func `says what is wrong with a key`() async throws {
    let place = TemporaryDirectory()
    let outcome = try await Program().run([
      "api", "check", "--app", "b", "--issuer", "i", "--key-id", "k", "--key-file", place.file("k", [0x41]),
    ])
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("no key of the App Store Server API"))
  }
}
