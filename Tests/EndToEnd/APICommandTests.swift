import HTTPServer
import JSON
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time

/// The API's commands against a scripted Apple.
@Suite struct `The api command` {
  /// Answers by the beginning of the path, in Production and below `/sandbox` alike, and keeps what changed something.
  private final class Apple: HTTPHandler {
    private let answers: [(path: String, answer: HTTPResponse)]
    private let lines = Mutex<[String]>([])

    init(_ answers: [(path: String, answer: HTTPResponse)]) { self.answers = answers }

    var asked: [String] { lines.withLock { $0 } }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      lines.withLock { $0.append("\(request.method) \(request.rawTarget)") }
      return answers.first { request.path.hasPrefix($0.path) }?.answer ?? .text(401, "")
    }
  }

  private static let pki = try? ApplePKI.generate(at: Milliseconds(1_780_000_000_000))

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
      "--bundle", "com.example.app", "--issuer", "i", "--key-id", "k", "--key-file", key, "--root", root,
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
      #expect(outcome.notes.contains("revision r1"))
      let objects = try await api(["history", "1", "--json"]).objects
      #expect(objects.map { $0["transactionId"]?.string } == ["11", nil])
      let missing = try await api(["order", "M1"])
      #expect(missing.status == 1)
      #expect(missing.notes.contains("no such order"))
    }
  }

  @Test func `changes nothing without an environment, or when it is only tried`() async throws {
    let answers = [("/inApps/v1/subscriptions/extend/1", Self.json(["success": true, "effectiveDate": 5]))]
    try await run(answers) { apple, api in
      let call = ["extend", "1", "--days", "7", "--request", "r"]
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
      "api", "check", "--bundle", "b", "--issuer", "i", "--key-id", "k", "--key-file", place.file("k", [0x41]),
    ])
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("no key of the App Store Server API"))
  }
}
