import HTTPServer
import Synchronization

/// Passes requests to the App Store once it exists.
///
/// Its certificates name the port, which is known only after the server listens.
final class DeferredHandler: HTTPHandler, Sendable {
  private let store = Mutex<SimulatedAppStore?>(nil)

  func open(_ store: SimulatedAppStore) { self.store.withLock { $0 = store } }

  func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit(bodyLimit: SimulatedAppStore.bodyLimit) }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let store = store.withLock({ $0 }) else { return HTTPResponse(status: 503, headers: ["Retry-After": "1"]) }
    return await store.respond(to: request)
  }
}
