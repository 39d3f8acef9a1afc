package import Ledger
import Purchases
package import Runtime
import Synchronization

/// The registered apps as this process knows them, read again every few seconds and when an unknown app calls.
package final class AppRegistry: Service {
  private struct State {
    var directory: AppRegistrySnapshot
    /// When it was last read, or tried to be.
    var readAt: ContinuousClock.Instant
    /// Until then no stage was changed in the database that this process does not know.
    var confirmedAt: ContinuousClock.Instant
    /// The reading that is under way.
    var reading: Task<Void, Never>?
    /// How many readings have begun, and ended, without the first.
    var begun = 0
    var ended = 0
    /// The number of the last reading that succeeded.
    var succeeded = 0
  }

  private let state: Mutex<State>
  private let read: @Sendable () async throws -> AppRegistrySnapshot
  private let mark: (@Sendable () async throws -> Int64)?
  private let working: (@Sendable (Int64?) async -> Void)?
  private let clock: @Sendable () -> ContinuousClock.Instant
  private let logger: Logger

  private static let period = Duration.seconds(5)
  /// How often it is looked whether a stage has changed: the change is to be known within five seconds, and that the database
  /// answers nothing within one.
  private static let markPeriod = Duration.milliseconds(500)

  /// A registry that has read the directory once.
  ///
  /// - Parameters:
  ///   - mark: a number that changes when an app's stage does.
  ///   - working: hears by which mark this process works, every few seconds and when it changes; nil when it ends. The mark is
  ///     that of the last reading that succeeded, told before it began; 0 before the first.
  ///   - clock: tells how old the stages are; it has to go on while the machine sleeps.
  package init(
    reading read: @escaping @Sendable () async throws -> AppRegistrySnapshot,
    mark: (@Sendable () async throws -> Int64)? = nil,
    working: (@Sendable (Int64?) async -> Void)? = nil,
    clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, logger: Logger
  ) async throws {
    (self.mark, self.working, self.clock) = (mark, working, clock)
    let start = clock()
    let directory = try await read()
    state = Mutex(State(directory: directory, readAt: .now, confirmedAt: start))
    self.read = read
    self.logger = logger
    warn(of: Set(directory.unopened), in: directory)
    note(directory.gaps)
  }

  package var directory: AppRegistrySnapshot { state.withLock { $0.directory } }

  /// Whether the stages are those that the database had at most so long ago.
  ///
  /// They are not after the process was suspended, or while it cannot reach its database.
  package func hasCurrentStages(within time: Duration) -> Bool {
    state.withLock { clock() - $0.confirmedAt < time }
  }

  /// The directory, read anew: asked before anybody is refused.
  ///
  /// An app or a token is of use from the moment it is registered, in whichever process that was. Callers share one
  /// reading in `interval` and wait for it: so much, and no more, can guesses cost the database.
  package func refreshed(atMostEvery interval: Duration) async -> AppRegistrySnapshot {
    _ = await isReadAnew(atMostEvery: interval)
    return directory
  }

  /// Reads the directory as `refreshed` does, and returns whether that succeeded.
  private func isReadAnew(atMostEvery interval: Duration) async -> Bool {
    // A reading that is under way may have missed a change made just now. The next one cannot have, whoever starts it.
    let needed = state.withLock { $0.begun + 1 }
    while true {
      let (reading, isRead) = state.withLock { state -> (Task<Void, Never>?, Bool) in
        // Checked first: a reading that somebody else started later need not be waited for.
        if state.ended >= needed { return (nil, state.succeeded >= needed) }
        if let reading = state.reading { return (reading, false) }
        let due = state.readAt + interval
        // Shared by all who wait, so no single one's child.
        let reading = Task {
          try? await Task.sleep(until: due, clock: .continuous)
          await self.refresh()
        }
        state.reading = reading
        return (reading, false)
      }
      guard let reading else { return isRead }
      await reading.value
    }
  }

  package func run() async throws {
    var (known, works, readAt, isFirst) = (Int64?.none, Int64(0), ContinuousClock.now, true)
    while !Task.isCancelled {
      // By which stages the process works is said as soon as it does.
      if mark == nil || !isFirst { try? await Task.sleep(for: mark == nil ? Self.period : Self.markPeriod) }
      isFirst = false
      if Task.isCancelled { break }
      let start = clock()
      // What cannot be told is read with the rest.
      let found = try? await mark?()
      if let found, found == known { state.withLock { $0.confirmedAt = max($0.confirmedAt, start) } }
      guard ContinuousClock.now - readAt >= Self.period || found != known else { continue }
      let isRead = await isReadAnew(atMostEvery: .zero)
      // After a reading that failed the next look tries again.
      (known, readAt) = (isRead ? found : nil, .now)
      guard let found else { continue }
      if isRead { works = found }
      await working?(works)
    }
    try await withCancellationShield { [working] in await working?(nil) }
  }

  private func refresh() async {
    state.withLock { $0.begun += 1 }
    let start = clock()
    do {
      let fresh = try await read()
      let known = state.withLock { state in
        defer {
          (state.directory, state.readAt, state.confirmedAt) = (fresh, .now, max(state.confirmedAt, start))
          (state.reading, state.ended, state.succeeded) = (nil, state.begun, state.begun)
        }
        return state.directory
      }
      warn(of: Set(fresh.unopened).subtracting(known.unopened), in: fresh)
      let before = Set(known.gaps)
      note(fresh.gaps.filter { !before.contains($0) })
    } catch {
      // An attempt counts like a reading: an outage must not let guesses through to the database.
      state.withLock { state in
        state.readAt = .now
        (state.reading, state.ended) = (nil, state.begun)
      }
      logger.warning(
        "the apps could not be read again; continuing with the known ones", metadata: ["error": "\(error)"])
    }
  }

  /// Says of each secret, once, that it does not open; by its name, which says nothing about it.
  private func warn(of unopened: Set<CredentialTable.Unopened>, in directory: AppRegistrySnapshot) {
    for secret in unopened.sorted(by: { ($0.app, $0.name) < ($1.app, $1.name) }) {
      let app = directory.apps.first { $0.id == secret.app }?.bundleID ?? ""
      logger.error(
        "a shared secret does not open: name its master key, or register the secret again",
        metadata: ["app": "\(app)", "secret": "\(secret.name)", "reason": "\(secret.reason)"])
    }
  }

  /// Logs what apps lack, once for each gap: at the start, and when an app is registered or loses its URL.
  private func note(_ gaps: [MissingSetup]) {
    for gap in gaps {
      let metadata: Logger.Metadata = ["app": "\(gap.app.bundleID)", "command": "\(gap.command)"]
      switch gap {
      case .noLegacyURL(_, let environment):
        logger.notice(
          "app has no legacy URL: nothing is forwarded to its destination",
          metadata: metadata.merging(["environment": "\(environment.rawValue)"]) { $1 })
      case .noSharedSecret:
        logger.notice(
          "app has no shared secret: its V1 notifications are quarantined, and forwarded if its policy forwards unproven ones",
          metadata: metadata)
      case .noAPIKey:
        logger.notice("app has no API key: Apple cannot be asked about its purchases", metadata: metadata)
      }
    }
  }
}
