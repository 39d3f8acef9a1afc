/// A handler made of closures.
struct Handler: HTTPHandler {
  var admission: @Sendable (HTTPRequestHead) -> HTTPAdmission = { _ in .admit() }
  var answer: @Sendable (HTTPRequest) async -> HTTPResponse
  var sender: @Sendable (HTTPRequestHead) -> CallerClass? = { _ in nil }

  init(_ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) { self.answer = answer }

  func admit(_ head: HTTPRequestHead) -> HTTPAdmission { admission(head) }
  func caller(of head: HTTPRequestHead) -> CallerClass? { sender(head) }
  func respond(to request: HTTPRequest) async -> HTTPResponse { await answer(request) }

  /// Says back what it got: method and path in headers, the body as body.
  static let echo = Handler { request in
    HTTPResponse(
      status: 200, headers: ["X-Method": request.method, "X-Path": request.path, "X-Peer": "\(request.peer)"],
      body: request.body)
  }
}

/// Whatever a server reported.
final class Events: Sendable {
  private let all = Mutex<[HTTPServerEvent]>([])

  func add(_ event: HTTPServerEvent) { all.withLock { $0.append(event) } }

  /// The classes of callers of which it was reported that they use nearly all of this.
  func nearlyFull(_ capacity: HTTPCapacity) -> [CallerClass] {
    all.withLock { events in
      events.compactMap { if case .nearlyFull(capacity, let caller, _) = $0 { caller } else { nil } }
    }
  }

  var unfinished: Int? {
    all.withLock { events in
      events.compactMap { if case .stopped(let unfinished) = $0 { unfinished } else { nil } }.first
    }
  }
}

/// Runs `body` against a server that is stopped afterwards, however `body` ends.
func withServer<R: Sendable>(
  _ handler: Handler = .echo, limits: HTTPServerLimits = HTTPServerLimits(), threads: Int = 2,
  tls: HTTPServerTLS? = nil, stopWithin: Interval = .seconds(5), events: Events = Events(),
  classify: @escaping @Sendable (PeerAddress) -> CallerClass = { _ in .anonymous },
  _ body: @Sendable (HTTPServer) async throws -> R
) async throws -> R {
  var configuration = HTTPServerConfiguration(
    port: 0, threads: threads, tls: tls, limits: limits, stopWithin: stopWithin)
  configuration.classify = classify
  let server = HTTPServer(configuration, handler: handler, onEvent: { events.add($0) })
  try server.start()
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    do {
      let result = try await body(server)
      group.cancelAll()
      try await group.waitForAll()
      return result
    } catch {
      group.cancelAll()
      throw error
    }
  }
}

/// Waits for a condition, up to ten seconds.
func eventually(
  _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ holds: () -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while !holds() {
    guard ContinuousClock.now < end else {
      Issue.record(what, sourceLocation: sourceLocation)
      return
    }
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// A number that many threads raise.
final class Count: Sendable {
  private let number = Atomic(0)

  var value: Int { number.load(ordering: .relaxed) }
  func up() { number.wrappingAdd(1, ordering: .relaxed) }
}

/// A door that tests open: whoever comes before waits.
final class Gate: Sendable {
  private enum State {
    case closed([CheckedContinuation<Void, Never>])
    case open
  }

  private let state = Mutex(State.closed([]))

  var waiting: Int { state.withLock { if case .closed(let waiting) = $0 { waiting.count } else { 0 } } }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        guard case .closed(let waiting) = state else { return true }
        state = .closed(waiting + [continuation])
        return false
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      defer { state = .open }
      if case .closed(let waiting) = state { return waiting } else { return [] }
    }
    for continuation in waiting { continuation.resume() }
  }
}

func small(_ change: (inout HTTPServerLimits) -> Void) -> HTTPServerLimits {
  var limits = HTTPServerLimits()
  change(&limits)
  return limits
}

extension String {
  /// So many letters.
  static func x(_ count: Int) -> String { String(repeating: "x", count: count) }
}
