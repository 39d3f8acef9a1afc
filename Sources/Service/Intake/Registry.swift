package import Ledger
package import Runtime
import Synchronization
package import Time

/// The registered apps as this process knows them, read again every few seconds and when an unknown app calls.
package final class Registry: Service {
  private struct State {
    var directory: AppDirectory
    var readAt: Milliseconds
  }

  private let state: Mutex<State>
  private let read: @Sendable () async throws -> AppDirectory
  private let clock: WallClock
  private let logger: Logger

  /// How old the directory may be when somebody is to be refused because of it.
  private static let freshness = Interval.seconds(1)
  private static let period = Duration.seconds(5)

  /// A registry that has read the directory once.
  package init(
    reading read: @escaping @Sendable () async throws -> AppDirectory, clock: WallClock, logger: Logger
  ) async throws {
    state = Mutex(State(directory: try await read(), readAt: clock.now()))
    self.read = read
    self.clock = clock
    self.logger = logger
  }

  package var directory: AppDirectory { state.withLock { $0.directory } }

  /// The directory, read anew unless that was done a moment ago: asked before anybody is refused.
  package func refreshed() async -> AppDirectory {
    let isFresh = state.withLock { state in
      let isFresh = clock.now() - state.readAt < Self.freshness
      if !isFresh { state.readAt = clock.now() }
      return isFresh
    }
    if !isFresh { await refresh() }
    return directory
  }

  package func run() async throws {
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.period)
      if !Task.isCancelled { await refresh() }
    }
  }

  private func refresh() async {
    do {
      let fresh = try await read()
      let now = clock.now()
      state.withLock { $0 = State(directory: fresh, readAt: now) }
    } catch {
      logger.warning("the apps could not be read again; going on with those known", metadata: ["error": "\(error)"])
    }
  }
}
