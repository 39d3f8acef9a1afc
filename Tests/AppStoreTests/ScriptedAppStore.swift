/// Apple as a script: gives its answers in order, the last for ever, and keeps what it was asked.
final class ScriptedAppStore: HTTPHandler {
  struct Asked: Sendable {
    let method: String
    let target: String
    let authorization: String
    let contentType: String
    let body: [UInt8]

    var json: JSONObject? { (try? JSONReader.read(body))?.object }
  }

  private let state: Mutex<(answers: [HTTPResponse], asked: [Asked])>

  init(_ answers: [HTTPResponse]) { state = Mutex((answers, [])) }

  var asked: [Asked] { state.withLock { $0.asked } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let asked = Asked(
      method: request.method, target: request.rawTarget, authorization: request.headers["Authorization"] ?? "",
      contentType: request.headers["Content-Type"] ?? "", body: request.body)
    return state.withLock { state in
      state.asked.append(asked)
      return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? .text(404, "")
    }
  }
}

extension HTTPResponse {
  static func json(_ object: JSONObject) -> Self { .json(200, object.encoded()) }

  /// Apple's refusal with a number.
  static func error(_ code: Int64, status: Int? = nil, retryAfter: String? = nil) -> Self {
    var response = HTTPResponse.json(
      status ?? Int(code / 10_000),
      JSONObject([("errorCode", .integer(code)), ("errorMessage", "No.")]).encoded())
    if let retryAfter { response.headers.append("Retry-After", retryAfter) }
    return response
  }
}

/// A clock that sleeping moves: nobody waits, and what was slept is kept.
final class QuickTime: Sendable {
  private let clock: SteppedClock
  private let sleeps = Mutex<[Interval]>([])

  init(at start: Timestamp = Timestamp(1_780_000_000_000)) { clock = SteppedClock(at: start) }

  var now: Timestamp { clock.clock.now() }
  var slept: [Interval] { sleeps.withLock { $0 } }
  func advance(by interval: Interval) { clock.advance(by: interval) }

  func timing(jitter: Double = 0.5) -> CallTimeSource {
    CallTimeSource(
      clock: clock.clock,
      sleep: { interval in
        try Task.checkCancellation()
        self.sleeps.withLock { $0.append(interval) }
        self.clock.advance(by: interval)
      }, jitter: { jitter })
  }
}

/// A client whose Apple is a script.
struct Scripted: Sendable {
  static let bundleID = "com.example.app"

  let apple: ScriptedAppStore
  let client: AppStoreClient
  let credentials: AppCredentials
  let time: QuickTime
}

/// A key of nobody's, made once.
let testKey: PrivateKey = {
  do { return try PrivateKey.generate(.p256) } catch { preconditionFailure("\(error)") }
}()

func testCredentials(_ bundleID: String = Scripted.bundleID) throws -> AppCredentials {
  AppCredentials(
    bundleID: bundleID, key: try APIKey(issuerID: "issuer", keyID: "KEY1", pem: try testKey.pem()))
}

/// Runs `body` with a client and a server that gives these answers; both are gone afterwards.
///
/// The sandbox is the same server below `/sandbox`.
func withAppStore(
  _ answers: [HTTPResponse], limits: AppStoreClient.Limits = .init(), perSecond: Double = 1_000,
  observe: @escaping @Sendable (CallRecord) -> Void = { _ in },
  _ body: @Sendable (Scripted) async throws -> Void
) async throws {
  let apple = ScriptedAppStore(answers)
  let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(2)), handler: apple)
  try server.start()
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    defer { group.cancelAll() }
    try await withClient(port: server.port, limits: limits, perSecond: perSecond, observe: observe) { client, time in
      try await body(
        Scripted(apple: apple, client: client, credentials: try testCredentials(), time: time))
    }
  }
}

/// A client of whatever listens on `port`.
func withClient(
  port: UInt16, limits: AppStoreClient.Limits = .init(), scheme: String = "http", over http: HTTPClient = HTTPClient(),
  perSecond: Double = 1_000, observe: @escaping @Sendable (CallRecord) -> Void = { _ in },
  _ body: (AppStoreClient, QuickTime) async throws -> Void
) async throws {
  let time = QuickTime()
  let gate = RateLimiter(
    store: InMemoryRateLimitStore().member("test"), timing: time.timing(),
    bounds: { _ in RateBounds(start: perSecond, most: perSecond) })
  let client = AppStoreClient(
    http: http, hosts: AppStoreHosts(simulator: "\(scheme)://127.0.0.1:\(port)"), gate: gate, timing: time.timing(),
    limits: limits, observe: observe)
  do {
    try await body(client, time)
    await http.shutdown()
  } catch {
    await http.shutdown()
    throw error
  }
}

/// What a call failed with; nil when it did not.
func failure<Value>(_ call: () async throws -> Value) async -> APIError? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error as? APIError
  }
}
