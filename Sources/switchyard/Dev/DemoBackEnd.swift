import HTTPServer
import Runtime
import Signing
import Synchronization
import Time

/// The earlier back end of a story's apps, which stores the messages that it receives.
final class DemoBackEnd: HTTPHandler, Service {
  private struct State {
    var isDown = false
    var heard: Set<Digest> = []
    var server: HTTPServer?
  }

  private let state = Mutex(State())

  /// Listens on a free port of this machine; returns the URL.
  func start() throws -> String {
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: self) { _ in }
    try server.start()
    state.withLock { $0.server = server }
    return "http://127.0.0.1:\(server.port)/apple"
  }

  func run() async throws { try await state.withLock { $0.server }?.run() }

  /// Sets whether it responds with 503 and stores nothing.
  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  var count: Int { state.withLock { $0.heard.count } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    state.withLock { state in
      guard !state.isDown else { return HTTPResponse(status: 503) }
      state.heard.insert(Digest.sha256(request.body))
      return HTTPResponse(status: 200)
    }
  }
}
