package import Ledger
import Purchases
package import Runtime
import Synchronization

/// The registered apps as this process knows them, read again every few seconds and when an unknown app calls.
package final class Registry: Service {
  private struct State {
    var directory: AppDirectory
    /// When it was last read, or tried to be.
    var readAt: ContinuousClock.Instant
    /// The reading that is under way.
    var reading: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let read: @Sendable () async throws -> AppDirectory
  private let logger: Logger

  private static let period = Duration.seconds(5)

  /// A registry that has read the directory once.
  package init(
    reading read: @escaping @Sendable () async throws -> AppDirectory, logger: Logger
  ) async throws {
    let directory = try await read()
    state = Mutex(State(directory: directory, readAt: .now))
    self.read = read
    self.logger = logger
    warn(of: Set(directory.unopened), in: directory)
    note(directory.gaps)
  }

  package var directory: AppDirectory { state.withLock { $0.directory } }

  /// The directory, read anew: asked before anybody is refused.
  ///
  /// An app or a token is of use from the moment it is registered, in whichever process that was. Callers share one
  /// reading in `interval` and wait for it: so much, and no more, can guesses cost the database.
  package func refreshed(atMostEvery interval: Duration) async -> AppDirectory {
    // What is being read already may have begun too early; what is begun now has not.
    if let reading = state.withLock({ $0.reading }) { await reading.value }
    let reading = state.withLock { state in
      if let reading = state.reading { return reading }
      let due = state.readAt + interval
      // Shared by all who wait, so no single one's child.
      let reading = Task {
        try? await Task.sleep(until: due, clock: .continuous)
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
      if !Task.isCancelled { _ = await refreshed(atMostEvery: .zero) }
    }
  }

  private func refresh() async {
    do {
      let fresh = try await read()
      let known = state.withLock { state in
        defer { state = State(directory: fresh, readAt: .now) }
        return state.directory
      }
      warn(of: Set(fresh.unopened).subtracting(known.unopened), in: fresh)
      let before = Set(known.gaps)
      note(fresh.gaps.filter { !before.contains($0) })
    } catch {
      // An attempt counts like a reading: an outage must not let guesses through to the database.
      state.withLock { state in
        state.readAt = .now
        state.reading = nil
      }
      logger.warning("the apps could not be read again; going on with those known", metadata: ["error": "\(error)"])
    }
  }

  /// Says of each secret, once, that it does not open; by its name, which says nothing about it.
  private func warn(of unopened: Set<CredentialTable.Unopened>, in directory: AppDirectory) {
    for secret in unopened.sorted(by: { ($0.app, $0.name) < ($1.app, $1.name) }) {
      let app = directory.apps.first { $0.id == secret.app }?.bundleID ?? ""
      logger.error(
        "a shared secret does not open: name its master key, or register the secret again",
        metadata: ["app": "\(app)", "secret": "\(secret.name)", "reason": "\(secret.reason)"])
    }
  }

  /// Logs what apps lack, once for each gap: at the start, and when an app is registered or loses its URL.
  private func note(_ gaps: [SetupGap]) {
    for gap in gaps {
      let metadata: Logger.Metadata = ["app": "\(gap.app.bundleID)", "command": "\(gap.command)"]
      switch gap {
      case .noLegacyURL(_, let environment):
        logger.notice(
          "app has no legacy URL: nothing is forwarded to its old back end",
          metadata: metadata.merging(["environment": "\(environment.rawValue)"]) { $1 })
      case .noSharedSecret:
        logger.notice(
          "app has no shared secret: its V1 notifications are set aside, and not forwarded", metadata: metadata)
      case .noAPIKey:
        logger.notice("app has no API key: Apple cannot be asked about its purchases", metadata: metadata)
      }
    }
  }
}
