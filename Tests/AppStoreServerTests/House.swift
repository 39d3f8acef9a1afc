/// A simulated App Store that serves, and the ways in which tests speak to it.
struct House: Sendable {
  static let bundleID = "com.example.notes"
  /// 2026-01-05T08:00:00Z.
  static let start = Timestamp(1_767_600_000_000)
  /// One for all tests: making one takes a second.
  static let receiptPKI = ReceiptPKI.known(at: start)

  let running: RunningAppStore
  let client: HTTPClient
  let clock: SteppedClock

  struct Answer: Sendable {
    let status: Int
    let object: JSONObject
    let headers: ClientHeaders
    let body: [UInt8]
  }

  /// An app to which nothing happens by itself, and its customer number 0.
  static func quiet(environment: AppStoreEnvironment = .sandbox) throws -> AppStoreWorld {
    var app = AppPlan.sample(bundleID, environment: environment)
    app.era.sandboxSendsEverything = true
    let other = AppPlan.sample("com.example.other", appAppleID: 1_600_000_001, environment: environment)
    var world = AppStoreWorld(plan: WorldPlan(apps: [app, other]), seed: 1, start: start)
    _ = try world.enrol(in: bundleID, environment: environment)
    return world
  }

  /// Runs `body` with a store of this world, which is stopped afterwards.
  static func with<R: Sendable>(
    _ world: AppStoreWorld, _ body: @Sendable (House) async throws -> R
  ) async throws -> R {
    var settings = RunningAppStore.Settings()
    settings.receiptPKI = receiptPKI
    let clock = SteppedClock(at: world.now)
    let running = try RunningAppStore.start(world, settings, clock: clock.clock)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await running.run() }
      let client = HTTPClient()
      let result = await Result { try await body(House(running: running, client: client, clock: clock)) }
      await client.shutdown()
      group.cancelAll()
      try await group.waitForAll()
      return try result.get()
    }
  }

  func call(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) async throws -> Answer {
    let response = try await client.send(
      ClientRequest(method: method, url: url, headers: headers, body: body, deadline: .seconds(60)))
    let object = (try? JSONReader.read(response.body))?.object ?? JSONObject()
    return Answer(status: response.status, object: object, headers: response.headers, body: response.body)
  }

  /// A call of the API, with a token that is right unless another is given.
  func api(
    _ method: String, _ path: String, _ body: JSONObject? = nil, bundleID: String = House.bundleID,
    environment: AppStoreEnvironment = .sandbox, token: String? = nil
  ) async throws -> Answer {
    let right = try running.store.identity.key.token(for: bundleID, at: clock.clock.now())
    return try await call(
      method, running.url(environment) + path, headers: [("Authorization", "Bearer \(token ?? right)")],
      body: body?.encoded() ?? [])
  }

  func verifyReceipt(
    _ receipt: String, password: String? = House.secret, excludingOld: Bool = false,
    environment: AppStoreEnvironment = .sandbox
  ) async throws -> JSONObject {
    var body: JSONObject = ["receipt-data": .string(receipt)]
    if let password { body["password"] = .string(password) }
    if excludingOld { body["exclude-old-transactions"] = true }
    let answer = try await call("POST", running.url(environment) + "/verifyReceipt", body: body.encoded())
    #expect(answer.status == 200)
    return answer.object
  }

  static let secret = AppPlan.sample(bundleID).sharedSecret

  @discardableResult
  func control(_ method: String, _ path: String, _ body: JSONObject? = nil) async throws -> Answer {
    try await call(method, "\(running.controlURL)/\(path)", body: body?.encoded() ?? [])
  }

  /// Has customer 0.0 do something; the ids of the new transactions.
  @discardableResult
  func act(_ act: String, _ values: JSONObject = [:]) async throws -> [String] {
    var body = values
    body["act"] = .string(act)
    body["customer"] = "0.0"
    let answer = try await control("POST", "act", body)
    #expect(answer.status == 200, "\(answer.object)")
    return answer.object["transactions"]?.array?.compactMap(\.string) ?? []
  }

  func advance(days: Int64 = 0, hours: Int64 = 0, minutes: Int64 = 0) async throws {
    let time = (days * 24 + hours) * 3_600_000 + minutes * 60_000
    let answer = try await control("POST", "advance", ["milliseconds": .integer(time)])
    #expect(answer.status == 200, "\(answer.object)")
  }

  func fault(_ rule: JSONObject) async throws {
    let answer = try await control("POST", "faults", rule)
    #expect(answer.status == 200, "\(answer.object)")
  }

  func receipt(_ query: String = "") async throws -> String {
    String(decoding: try await control("GET", "customers/0.0/receipt\(query)").body, as: UTF8.self)
  }

  /// What is in a JWS, unverified.
  static func payload(_ jws: String?) throws -> JSONObject {
    let parts = Array((jws ?? "").utf8).split(separator: UInt8(ascii: "."))
    try #require(parts.count == 3)
    let bytes = try #require(Base64.url.decode(Array(parts[1])))
    return try #require(try JSONReader.read(bytes).object)
  }

  static func transactions(_ answer: Answer) throws -> [JSONObject] {
    try (answer.object["signedTransactions"]?.array ?? []).map { try payload($0.string) }
  }
}

extension Result where Failure == any Error, Success: Sendable {
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// A developer's server: keeps what it is sent and answers what it is told to.
struct Receiver: Sendable {
  private final class Mailbox: HTTPHandler, Sendable {
    struct State {
      var bodies: [JSONObject] = []
      var statuses: [Int] = []
    }

    let state = Mutex(State())

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      state.withLock { state in
        if let body = (try? JSONReader.read(request.body))?.object { state.bodies.append(body) }
        return HTTPResponse(status: state.statuses.isEmpty ? 200 : state.statuses.removeFirst())
      }
    }
  }

  private let mailbox: Mailbox
  private let server: HTTPServer

  private init() {
    let mailbox = Mailbox()
    self.mailbox = mailbox
    server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: mailbox)
  }

  /// The next answers; 200 afterwards.
  func answer(_ statuses: Int...) { mailbox.state.withLock { $0.statuses = statuses } }

  var url: String { "http://127.0.0.1:\(server.port)/notifications" }
  var bodies: [JSONObject] { mailbox.state.withLock { $0.bodies } }

  /// What came, V1 as it is and V2 as its payload says.
  func titles() throws -> [String] {
    try bodies.map { body in
      if let type = body["notification_type"]?.string { return "V1 \(type)" }
      let payload = try House.payload(body["signedPayload"]?.string)
      return [payload["notificationType"]?.string, payload["subtype"]?.string].compactMap { $0 }.joined(separator: "/")
    }
  }

  /// Runs `body` while it listens.
  static func with<R: Sendable>(_ body: @Sendable (Receiver) async throws -> R) async throws -> R {
    let receiver = Receiver()
    try receiver.server.start()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await receiver.server.run() }
      let result = await Result { try await body(receiver) }
      group.cancelAll()
      try await group.waitForAll()
      return try result.get()
    }
  }
}
