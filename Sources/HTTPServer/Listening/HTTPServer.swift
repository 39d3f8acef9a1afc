import Runtime
import Synchronization

/// An HTTP/1.1 server with limits and without routes.
///
/// Start it, then `run()` it; cancelling `run()` stops it gracefully. A started server also stops when it is released.
package final class HTTPServer: Sendable {
  private enum State {
    case new
    case serving(Acceptor, port: UInt16)
    case stopped
  }

  private let configuration: HTTPServerConfiguration
  private let core: ServerCore
  private let state = Mutex(State.new)
  private let ending = OneShotEvent()

  /// `onEvent` is called on the server's own threads: it must not block.
  package init(
    _ configuration: HTTPServerConfiguration, handler: any HTTPHandler,
    onEvent: @escaping @Sendable (HTTPServerEvent) -> Void = { _ in }
  ) {
    self.configuration = configuration
    core = ServerCore(handler: handler, configuration: configuration, onEvent: onEvent)
  }

  deinit { stop() }

  /// Listens and serves; the errors are those that an operator can fix.
  package func start() throws(HTTPServerError) {
    try state.withLock { state throws(HTTPServerError) in
      guard case .new = state else {
        throw HTTPServerError(code: .alreadyStarted, detail: "a server starts once")
      }
      let tls: TLSContext? = if let files = configuration.tls { try TLSContext(TLSFiles(files)) } else { nil }
      let listener = try Listener(address: configuration.address, port: configuration.port)
      let port = listener.port
      let loops = (0..<max(1, configuration.threads)).map { _ in EventLoop(core: core, tls: tls) }
      let door = Acceptor(core: core, loops: loops, stopWithin: configuration.stopWithin) { [ending] in
        ending.reached()
      }
      let held = Mutex<Listener?>(listener)
      DedicatedThread.start {
        if let listener = held.withLock({ $0.take() }) { door.keep(listener) }
      }
      state = .serving(door, port: port)
      core.report(.listening(address: configuration.address, port: port))
    }
  }

  /// The port of the listener; 0 before the start.
  package var port: UInt16 {
    state.withLock { state in
      if case .serving(_, let port) = state { port } else { 0 }
    }
  }

  package var counters: HTTPServerCounters {
    core.tally.counters(openConnections: core.connections.open, bodiesInFlight: core.bodies.bytes)
  }

  /// The longest pass of an event loop in the last one to two minutes, during which its other connections waited.
  package var longestTurn: Duration { core.turns.longest() }

  package func used(_ capacity: HTTPCapacity, by caller: CallerClass) -> Int {
    core.capacity(capacity).used(by: caller)
  }

  /// Serves until cancelled; then rejects new connections, lets running requests finish within
  /// `HTTPServerConfiguration.stopWithin`, closes, and returns.
  ///
  /// Starts the server if necessary.
  package func run() async throws(HTTPServerError) {
    if case .new = state.withLock({ $0 }) { try start() }
    await withTaskCancellationHandler {
      await ending.wait()
    } onCancel: {
      stop()
    }
  }

  private func stop() {
    let door: Acceptor? = state.withLock { state in
      defer { state = .stopped }
      if case .serving(let door, _) = state { return door } else { return nil }
    }
    door?.stop()
  }
}

private final class OneShotEvent: Sendable {
  private enum State {
    case ahead([CheckedContinuation<Void, Never>])
    case reached
  }

  private let state = Mutex(State.ahead([]))

  func reached() {
    let waiting = state.withLock { state in
      defer { state = .reached }
      if case .ahead(let waiting) = state { return waiting } else { return [] }
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let over = state.withLock { state in
        guard case .ahead(let waiting) = state else { return true }
        state = .ahead(waiting + [continuation])
        return false
      }
      if over { continuation.resume() }
    }
  }
}
