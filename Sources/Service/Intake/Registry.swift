package import Ledger
package import Runtime
import Synchronization
package import Time

/// The registered apps as this process knows them, read again every few seconds and when an unknown app calls.
package final class Registry: Service {
  private struct State {
    var directory: AppDirectory
    /// When it was last tried, so that a database that is away is not asked the more often for it.
    var triedAt: Milliseconds
    /// The reading that is under way.
    var reading: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let read: @Sendable () async throws -> AppDirectory
  private let clock: WallClock
  private let logger: Logger

  private static let period = Duration.seconds(5)

  /// A registry that has read the directory once.
  package init(
    reading read: @escaping @Sendable () async throws -> AppDirectory, clock: WallClock, logger: Logger
  ) async throws {
    state = Mutex(State(directory: try await read(), triedAt: clock.now()))
    self.read = read
    self.clock = clock
    self.logger = logger
  }

  package var directory: AppDirectory { state.withLock { $0.directory } }

  /// The directory, read anew: asked before anybody is refused.
  ///
  /// An app or a token is of use from the moment it is registered, in whichever process that was. Callers share one
  /// reading in `interval` and wait for it: so much, and no more, can guesses cost the database.
  package func refreshed(atMostEvery interval: Interval) async -> AppDirectory {
    // What is being read already may have begun too early; what is begun now has not.
    if let reading = state.withLock({ $0.reading }) { await reading.value }
    let reading = state.withLock { state in
      if let reading = state.reading { return reading }
      // Never longer than asked, also when the clock has been set back.
      let wait = min(max(0, (state.triedAt + interval - clock.now()).milliseconds), interval.milliseconds)
      // Shared by all who wait, so no single one's child.
      let reading = Task {
        if wait > 0 { try? await Task.sleep(for: .milliseconds(wait)) }
        await self.refresh()
      }
      state.reading = reading
      return reading
    }
    await reading.value
    return directory
  }

  package func run() async throws {
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.period)
      if !Task.isCancelled { _ = await refreshed(atMostEvery: .seconds(0)) }
    }
  }

  private func refresh() async {
    let now = clock.now()
    do {
      let fresh = try await read()
      state.withLock { $0 = State(directory: fresh, triedAt: now) }
    } catch {
      state.withLock { state in
        state.reading = nil
        state.triedAt = now
      }
      logger.warning("the apps could not be read again; going on with those known", metadata: ["error": "\(error)"])
    }
  }
}
