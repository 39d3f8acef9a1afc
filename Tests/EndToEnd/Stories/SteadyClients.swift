/// Clients that ask services about the same customers again and again, each its next question once it has its answer.
final class SteadyClients: Sendable {
  /// What a service answered to what it was asked since the last `forget`.
  struct Heard: Sendable {
    /// Who gave the newest answer about each customer: `apple`, or one of our own sources.
    var sources: [Int: String] = [:]
    /// When the first answer of ours about each customer came.
    var firstOurs: [Int: ContinuousClock.Instant] = [:]
    /// When the last answer of ours came.
    var lastOurs: ContinuousClock.Instant?

    /// The customers whose newest answer is ours.
    var ours: Set<Int> { Set(sources.filter { $0.value != SteadyClients.apple }.keys) }
  }

  private struct State {
    var heard: [Heard]
    var since = ContinuousClock.now
    var answers = 0
    var failures: [String] = []
    var isOver = false
  }

  static let apple = "apple"
  private static let deadline = Interval.seconds(90)

  let urls: [String]
  let bodies: [[UInt8]]
  private let perService: Int
  private let client: HTTPClient
  private let state: Mutex<State>

  /// - Parameters:
  ///   - urls: the services' verifyReceipt.
  ///   - bodies: a request about each customer.
  ///   - perService: how many ask each service at once.
  init(_ client: HTTPClient, asking urls: [String], _ bodies: [[UInt8]], perService: Int) {
    (self.client, self.urls, self.bodies, self.perService) = (client, urls, bodies, perService)
    state = Mutex(State(heard: urls.map { _ in Heard() }))
  }

  /// Asks for as long as `body` runs.
  func asking<R: Sendable>(_ body: () async throws -> R) async throws -> R {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<urls.count * perService { group.addTask { await self.ask(lane) } }
      let result: Result<R, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      state.withLock { $0.isOver = true }
      try await group.waitForAll()
      return try result.get()
    }
  }

  /// Begins to note anew: what is asked from now on.
  func forget() {
    state.withLock { state in
      state.heard = state.heard.map { _ in Heard() }
      state.since = .now
    }
  }

  /// By service.
  var heard: [Heard] { state.withLock { $0.heard } }
  var answers: Int { state.withLock { $0.answers } }
  /// Every answer that was none: another HTTP status than 200, or another status in it than 0.
  var failures: [String] { state.withLock { $0.failures } }

  /// Waits until every service was asked about everybody since the last `forget`, and this is true of the newest answers.
  func everybodyAsked(within patience: Interval, _ isTrue: (Heard) -> Bool = { _ in true }) async -> Bool {
    await eventually(within: patience) {
      heard.allSatisfy { $0.sources.count == bodies.count && isTrue($0) }
    }
  }

  private func ask(_ lane: Int) async {
    let service = lane % urls.count
    // Each begins elsewhere, so that no two ask about one customer at one time.
    var customer = lane * bodies.count / (urls.count * perService)
    while !state.withLock({ $0.isOver }) {
      customer = (customer + 1) % bodies.count
      let begun = ContinuousClock.now
      let request = ClientRequest(
        method: "POST", url: urls[service], body: bodies[customer], deadline: Self.deadline, responseLimit: 8 << 20)
      do {
        let answer = try await client.send(request)
        let status = (try? JSONReader.read(answer.body).object)?["status"]?.integer
        if answer.status == 200, status == 0, let source = answer.headers["Switchyard-Answered-By"] {
          note(source, of: customer, by: service, asked: begun)
        } else {
          fail("service \(service), customer \(customer): \(answer.status), status \(status.map { "\($0)" } ?? "none")")
        }
      } catch { fail("service \(service), customer \(customer): \(error)") }
    }
  }

  private func note(_ source: String, of customer: Int, by service: Int, asked: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    state.withLock { state in
      state.answers += 1
      guard asked >= state.since else { return }
      state.heard[service].sources[customer] = source
      guard source != Self.apple else { return }
      state.heard[service].firstOurs[customer] = state.heard[service].firstOurs[customer] ?? now
      state.heard[service].lastOurs = now
    }
  }

  private func fail(_ what: String) { state.withLock { if $0.failures.count < 100 { $0.failures.append(what) } } }
}
