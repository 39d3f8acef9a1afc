/// What is killed for, and was.
struct Strike: Hashable, Sendable {
  enum Victim: Hashable, Sendable { case service, database }

  var victim = Victim.service
  /// Where it was ordered, for the stage of which app; empty where nobody counts it.
  var app = ""
  var stage = ""
  /// The app's stage when it struck, as far as that is known.
  var struckIn: String?
}

/// Two processes of the service on one database behind one address, as a load balancer that knows of no death puts them;
/// and the app's old back end, below `/old`, which takes everything.
final class TwoWorkers: HTTPHandler {
  private struct Order {
    let strike: Strike
    /// The requests that still come before it once it is the first.
    var left: Int
    /// Whether only calls of verifyReceipt are counted.
    let isAmongAnswers: Bool
  }

  private struct State {
    var running: [RunningProgram] = []
    var dead: Set<Int> = []
    var random: SeededRandom
    var orders: [Order] = []
    var strikes: [Strike] = []
    var kills = 0
    /// The apps' stages, by whoever moves them.
    var stages: [String: String] = [:]
    /// Calls of verifyReceipt that were answered.
    var answered = 0
    /// The `webhook-id`s that the old back end was sent.
    var heard: Set<String> = []

    /// Counts a request, and kills when it is time.
    mutating func strike(isAnswer: Bool) {
      // Of two that were killed none would be left to see it.
      guard dead.isEmpty, let order = orders.first, isAnswer || !order.isAmongAnswers else { return }
      guard order.left == 0, let victim = running.indices.randomElement(using: &random) else {
        orders[0].left -= 1
        return
      }
      orders.removeFirst()
      kill(running[victim].id, SIGKILL)
      dead.insert(victim)
      kills += 1
      note(order.strike)
    }

    mutating func note(_ strike: Strike) {
      var strike = strike
      strike.struckIn = stages[strike.app]
      strikes.append(strike)
    }
  }

  private let client: HTTPClient
  private let start: @Sendable () async throws -> RunningProgram
  private let state: Mutex<State>

  init(
    client: HTTPClient, seed: UInt64, start: @escaping @Sendable () async throws -> RunningProgram
  ) async throws {
    self.client = client
    self.start = start
    state = Mutex(State(random: SeededRandom(seed: seed)))
    for _ in 0..<2 {
      let running = try await start()
      state.withLock { $0.running.append(running) }
    }
  }

  var kills: Int { state.withLock { $0.kills } }
  var heard: Set<String> { state.withLock { $0.heard } }

  /// What was killed, the oldest first.
  var strikes: [Strike] { state.withLock { $0.strikes } }
  /// How many calls of verifyReceipt were answered.
  var answered: Int { state.withLock { $0.answered } }
  /// Whether any kill is ordered that has not come.
  var hasOrders: Bool { state.withLock { !$0.orders.isEmpty } }

  func hasOrders(of app: String) -> Bool { state.withLock { $0.orders.contains { $0.strike.app == app } } }

  /// Kills one of the two once so many requests more have come, while others are under way.
  func killOne(after requests: Int, for strike: Strike = Strike(), amongAnswers isAmongAnswers: Bool = false) {
    state.withLock { $0.orders.append(Order(strike: strike, left: requests, isAmongAnswers: isAmongAnswers)) }
  }

  /// Notes that somebody else killed something, in the stages of now.
  func note(_ strike: Strike) { state.withLock { $0.note(strike) } }

  /// Notes in which stage an app is from now on.
  func note(_ stage: String, of app: String) { state.withLock { $0.stages[app] = stage } }

  /// Starts again who was killed.
  func revive() async throws {
    for number in state.withLock({ $0.dead }).sorted() {
      await state.withLock { $0.running[number] }.end(SIGKILL)
      let running = try await start()
      state.withLock { state in
        state.running[number] = running
        state.dead.remove(number)
      }
    }
  }

  /// Starts again who was killed, and carries out now what was ordered and not come to.
  func reviveAfterAll() async throws {
    try await revive()
    while hasOrders {
      state.withLock { state in
        state.orders[0].left = 0
        state.strike(isAnswer: true)
      }
      try await revive()
    }
  }

  /// Ends both as an operator does; what is to be said of those that ended otherwise, with the end of their logs.
  func end() async -> [String] {
    var complaints: [String] = []
    for running in state.withLock({ $0.running }) {
      let status = await running.end(SIGTERM)
      if status != 0 { complaints.append("a process ended with \(status): \(running.notes.suffix(4_000))") }
    }
    return complaints
  }

  func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit(bodyLimit: 12 << 20) }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if request.path.hasPrefix("/old") {
      if let id = request.headers["webhook-id"] { state.withLock { _ = $0.heard.insert(id) } }
      return HTTPResponse(status: 200)
    }
    let isAnswer = request.path == "/verifyReceipt"
    let url = state.withLock { state in
      state.strike(isAnswer: isAnswer)
      return state.running.randomElement(using: &state.random)?.url ?? ""
    }
    let headers = ["Content-Type", "Authorization"].compactMap { name in
      request.headers[name].map { (name: name, value: $0) }
    }
    let passed = ClientRequest(
      method: request.method, url: url + request.rawTarget, headers: headers, body: request.body)
    guard let answer = try? await client.send(passed) else { return HTTPResponse(status: 502) }
    if isAnswer, answer.status == 200 { state.withLock { $0.answered += 1 } }
    var response = HTTPResponse.json(answer.status, answer.body)
    let name = "Switchyard-Answered-By"
    if let source = answer.headers[name] { response.headers.append(name, source) }
    return response
  }
}
