import Glibc
import HTTPClient
import HTTPServer
import Support
import Synchronization

/// Two processes of the service on one database behind one address, as a load balancer that knows of no death puts them;
/// and the app's old back end, below `/old`, which takes everything.
final class TwoWorkers: HTTPHandler {
  private struct State {
    var running: [RunningProgram] = []
    var dead: Set<Int> = []
    var random: SeededRandom
    /// For each kill that is ordered, the requests that still come before it once it is the first.
    var untilKill: [Int] = []
    var kills = 0
    /// The `webhook-id`s that the old back end was sent.
    var heard: Set<String> = []

    /// Counts a request, and kills when it is time.
    mutating func strike() {
      // Of two that were killed none would be left to see it.
      guard dead.isEmpty, let left = untilKill.first else { return }
      guard left == 0, let victim = running.indices.randomElement(using: &random) else {
        untilKill[0] = left - 1
        return
      }
      untilKill.removeFirst()
      kill(running[victim].id, SIGKILL)
      dead.insert(victim)
      kills += 1
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

  /// Kills one of the two once so many requests more have come, while others are under way.
  func killOne(after requests: Int) { state.withLock { $0.untilKill.append(requests) } }

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
    while state.withLock({ !$0.untilKill.isEmpty }) {
      state.withLock { state in
        state.untilKill[0] = 0
        state.strike()
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
    let url = state.withLock { state in
      state.strike()
      return state.running.randomElement(using: &state.random)?.url ?? ""
    }
    let headers = ["Content-Type", "Authorization"].compactMap { name in
      request.headers[name].map { (name: name, value: $0) }
    }
    let passed = ClientRequest(
      method: request.method, url: url + request.rawTarget, headers: headers, body: request.body)
    guard let answer = try? await client.send(passed) else { return HTTPResponse(status: 502) }
    var response = HTTPResponse.json(answer.status, answer.body)
    let name = "Switchyard-Answered-By"
    if let source = answer.headers[name] { response.headers.append(name, source) }
    return response
  }
}
