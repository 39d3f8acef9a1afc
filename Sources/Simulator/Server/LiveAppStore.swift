import Synchronization

/// The one state of a server, behind a lock.
final class LiveAppStore: Sendable {
  private let state: Mutex<AppStoreState>

  init(_ state: AppStoreState) { self.state = Mutex(state) }

  func withLock<Result: Sendable>(_ body: (inout sending AppStoreState) -> sending Result) -> Result {
    state.withLock(body)
  }
}
