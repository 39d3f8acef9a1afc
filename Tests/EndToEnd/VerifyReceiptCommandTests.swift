/// `api verify-receipt` against a scripted Apple.
@Suite struct `The command that asks verifyReceipt` {
  private static let secret = "0123456789abcdef0123456789abcdef"

  /// Two endpoints, of which each answers one thing, and what they were sent.
  private final class Apple: HTTPHandler {
    private let answers: [String: JSONObject]
    let asked = Mutex<[(path: String, body: JSONObject)]>([])

    init(production: JSONObject, sandbox: JSONObject) {
      answers = ["/verifyReceipt": production, "/sandbox/verifyReceipt": sandbox]
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      asked.withLock {
        $0.append((request.path, (try? JSONReader.read(request.body).object) ?? JSONObject()))
      }
      return .json(200, answers[request.path]?.encoded() ?? [])
    }

    var paths: [String] { asked.withLock { $0.map(\.path) } }
    var last: JSONObject? { asked.withLock { $0.last?.body } }
  }

  private static let valid: JSONObject = [
    "status": 0, "environment": "Sandbox",
    "receipt": ["bundle_id": "com.example.app", "in_app": [["product_id": "coins", "transaction_id": "7"]]],
    "latest_receipt_info": [
      ["product_id": "monthly", "transaction_id": "8", "expires_date_ms": "1780000000000"]
    ],
  ]

  private func run(
    production: JSONObject, sandbox: JSONObject = valid,
    _ body: (Apple, @Sendable ([String]) -> [String]) async throws -> Void
  ) async throws {
    let apple = Apple(production: production, sandbox: sandbox)
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(2)), handler: apple)
    try server.start()
    let base = "http://127.0.0.1:\(server.port)"
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      try await body(apple) { ["api", "verify-receipt", "--base-url", base] + $0 }
    }
  }

  @Test func `follows the receipt to where it belongs, and prints Apple's answer`() async throws {
    let place = TemporaryDirectory()
    let file = place.file("receipt.b64", Array("AAAA\r\nBBBB\n".utf8))
    let secret = place.file("secret.txt", Array("\(Self.secret)\n".utf8))
    try await run(production: ["status": 21007]) { apple, words in
      let json = try await Program().run(words([file, "--shared-secret-file", secret, "--json"]))
      #expect(json.status == 0, "\(json)")
      #expect(try json.objects == [Self.valid])
      #expect(json.notes.contains("Sandbox answered") && !json.notes.contains(Self.secret))
      #expect(apple.paths == ["/verifyReceipt", "/sandbox/verifyReceipt"])
      #expect(apple.last == ["receipt-data": "AAAABBBB", "password": .string(Self.secret)])
      let text = try await Program().run(
        words([file, "--environment", "Sandbox", "--exclude-old-transactions"]))
      #expect(text.status == 0 && text.notes == "", "\(text)")
      for word in ["com.example.app", "coins", "monthly", "Sandbox", "latest_receipt_info"] {
        #expect(text.output.contains(word), "\(word)")
      }
      #expect(apple.last == ["receipt-data": "AAAABBBB", "exclude-old-transactions": true])
      #expect(apple.paths.count == 3, "the sandbox was asked first, and nobody else")
    }
    try await run(production: Self.valid, sandbox: ["status": 21008]) { apple, words in
      let outcome = try await Program().run(words([file, "--environment", "Sandbox"]))
      #expect(outcome.status == 0 && outcome.notes.contains("Production answered"), "\(outcome)")
    }
  }

  @Test func `ends as Apple's status says`() async throws {
    let place = TemporaryDirectory()
    let file = place.file("receipt.b64", Array("AAAA".utf8))
    for (answer, status) in [
      (["status": 21006, "receipt": ["bid": "com.example.app", "transaction_id": "1"]], 0), (["status": 21004], 1),
      (["status": 21010], 1),
    ] as [(JSONObject, Int32)] {
      try await run(production: answer) { _, words in
        let outcome = try await Program().run(words([file, "--environment", "Production"]))
        #expect(outcome.status == status, "\(outcome)")
      }
    }
    let away = ["api", "verify-receipt", file, "--base-url", "http://127.0.0.1:1", "--json"]
    let unreachable = try await Program().run(away)
    #expect(unreachable.status != 0)
    #expect(try unreachable.objects.first?["error"]?.object?["code"] == "unreachable", "\(unreachable)")
    let both = try await Program().run(away + ["--app", "com.example.app", "--shared-secret-file", file])
    #expect(both.status == 2, "\(both)")
  }

  @Test func `sends the secret that is sealed for a registered app`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app, place) = (database.program, "com.example.app", TemporaryDirectory())
    let file = place.file("receipt.b64", Array("AAAA".utf8))
    let secret = place.file("secret.txt", Array(Self.secret.utf8))
    _ = try await program.run("app", "add", app)
    try await run(production: Self.valid) { apple, words in
      let none = try await program.run(words([file, "--app", app]))
      #expect(none.status == 1 && none.notes.contains("app secret") && apple.paths.isEmpty, "\(none)")
      #expect(try await program.run("app", "secret", app, "--shared-secret-file", secret).status == 0)
      let outcome = try await program.run(words([file, "--app", app]))
      #expect(outcome.status == 0, "\(outcome)")
      #expect(apple.last?["password"] == .string(Self.secret) && !outcome.output.contains(Self.secret))
    }
  }
}
