import Runtime
package import Time

/// This process's use of a directory's private database, which other processes can share.
///
/// The server runs in a separate process with its supervisor (`DatabaseSupervisor`). The first user starts it, and it
/// stops after the last one.
package actor EmbeddedDatabase {
  package enum Event: Sendable {
    /// An event of a supervisor that this process started.
    case server(EmbeddedServer.Event)
    /// The server starts slowly, as after a crash.
    ///
    /// The event has its log.
    case waitingForStart(log: String)
    /// Another process is stopping the server, which must finish before a new start.
    case waitingForStop
    /// The supervisor was killed, and the server with it.
    case keeperLost
    /// This process has no file descriptor left to check the server.
    ///
    /// It retries.
    case tooManyFiles
    /// No other process uses the server, and its stop takes long.
    case leftStopping
  }

  private let paths: EmbeddedPaths
  private let settings: EmbeddedServer.Settings
  private let keeper: SupervisorProgram
  private let users: UsageLockFile
  private let tell: @Sendable (Event) -> Void
  private var hasStarted = false

  private static let look = Duration.milliseconds(20)
  private static let shortStart = Duration.seconds(10)
  private static let shortStop = Duration.seconds(1)
  private static let watch = Duration.milliseconds(250)
  private static let pause = Duration.seconds(1)
  /// The maximum time of a stop, after which the supervisor has killed the server.
  private static let longestStop = Duration.seconds(180)
  /// The number of supervisors lost in a row, each within a minute of its start, after which the database is abandoned.
  private static let restarts = 5

  private init(
    _ paths: EmbeddedPaths, _ settings: EmbeddedServer.Settings, _ keeper: SupervisorProgram,
    _ tell: @escaping @Sendable (Event) -> Void
  ) throws(EmbeddedServerError) {
    self.paths = paths
    self.settings = settings
    self.keeper = keeper
    self.tell = tell
    users = try UsageLockFile(paths.users)
  }

  /// Joins the users of the database, starts it if necessary, and returns when it responds.
  ///
  /// - Parameters:
  ///   - directory: only for the database, created if necessary, as in `EmbeddedServer`.
  ///   - settings: the settings for a connection. The supervisor has the server's size.
  ///   - keeper: the program to start if no supervisor runs.
  package static func open(
    directory: String, settings: EmbeddedServer.Settings = EmbeddedServer.Settings(), keeper: SupervisorProgram,
    tell: @escaping @Sendable (Event) -> Void = { _ in }
  ) async throws -> (database: EmbeddedDatabase, configuration: DatabaseConfiguration) {
    let database = try EmbeddedDatabase(EmbeddedPaths(directory: directory), settings, keeper, tell)
    do {
      try await database.join()
      return (database, try await database.available())
    } catch {
      // No process waits for its stop, and no event reports it.
      database.users.leave()
      throw error
    }
  }

  package var isOurs: Bool { hasStarted }

  /// Restarts the supervisor whenever it is gone.
  ///
  /// Throws if it cannot be started, or is lost too often in a row. Returns when its task is cancelled. The database is
  /// in use until `close`.
  package func run() async throws {
    var losses = Losses()
    var isShort = false
    while true {
      do {
        try await Task.sleep(for: isShort ? Self.pause : Self.watch)
        try await restart(after: &losses)
        isShort = false
      } catch {
        if Task.isCancelled { return }
        // Existing connections continue meanwhile and free descriptors when they end, so the process must not end.
        guard (error as? EmbeddedServerError)?.code == .tooManyFiles || Files.areExhausted else { throw error }
        if !isShort { tell(.tooManyFiles) }
        isShort = true
      }
    }
  }

  /// The number of supervisors lost in a row.
  private struct Losses {
    var count = 0
    var last = ContinuousClock.now
    /// Whether the last one has no successor yet.
    var isOpen = false
  }

  /// Restarts the supervisor if it is gone, and returns when its server responds.
  private func restart(after losses: inout Losses) async throws {
    guard try DirectoryLock.holder(of: paths.lock) == nil else { return losses.isOpen = false }
    if !losses.isOpen {
      losses.count = ContinuousClock.now - losses.last > .seconds(60) ? 1 : losses.count + 1
      guard losses.count <= Self.restarts else {
        let end = ErrorLog.end(of: paths.keeperLog)
        throw EmbeddedServerError(
          .gaveUp, "the keeper of the database was lost \(losses.count) times in a row\n\(end)")
      }
      tell(.keeperLost)
      (losses.last, losses.isOpen) = (.now, true)
    }
    _ = try await available()
    losses.isOpen = false
  }

  /// Ends the use of the database.
  ///
  /// The last user waits until the server has stopped, or for `limit`, even if the task is cancelled. The supervisor
  /// then continues the stop.
  package func close(within limit: Interval) async {
    users.leave()
    let deadline = ContinuousClock.now + .milliseconds(limit.milliseconds)
    try? await withCancellationShield { await self.stopped(by: deadline) }
  }

  private func stopped(by deadline: ContinuousClock.Instant) async {
    // A server without a supervisor ends with its process, regardless of its users.
    while isKept {
      if case .users = users.others { return }
      guard ContinuousClock.now < deadline else { return tell(.leftStopping) }
      try? await Task.sleep(for: Self.look)
    }
  }

  /// Whether a supervisor holds the server.
  ///
  /// True also if no file descriptor is left to check it.
  private var isKept: Bool {
    do { return try DirectoryLock.holder(of: paths.lock)?.isKeeper ?? false } catch { return true }
  }

  private func join() async throws {
    let start = ContinuousClock.now
    let deadline = start + Self.longestStop
    var isTold = false
    while try !users.join() {
      if !isTold, ContinuousClock.now - start > Self.shortStop {
        tell(.waitingForStop)
        isTold = true
      }
      guard ContinuousClock.now < deadline else {
        throw EmbeddedServerError(.startFailed, "the database in \(paths.home) is being stopped and does not end")
      }
      try await Task.sleep(for: Self.look)
    }
  }

  /// Returns the configuration of the server once it responds, and starts it if no process runs it.
  private func available() async throws -> DatabaseConfiguration {
    let (tell, log) = (tell, paths.errorLog)
    return try await withThrowingTaskGroup(of: DatabaseConfiguration?.self) { group in
      group.addTask { try await self.waitUntilAvailable() }
      group.addTask {
        do { try await Task.sleep(for: Self.shortStart) } catch { return nil }
        tell(.waitingForStart(log: log))
        return nil
      }
      defer { group.cancelAll() }
      while let result = try await group.next() { if let result { return result } }
      throw CancellationError()
    }
  }

  private func waitUntilAvailable() async throws -> DatabaseConfiguration {
    let deadline = ContinuousClock.now + .milliseconds(settings.startLimit.milliseconds)
    var reason = "it has no socket"
    while true {
      try Task.checkCancellation()
      if let holder = try DirectoryLock.holder(of: paths.lock) {
        if let configuration = paths.configuration(settings) {
          do throws(DatabaseError) {
            await (try Connection.open(configuration)).close()
            return configuration
          } catch {
            guard error.isRetryable || error.code == .unknownDatabase else { throw error }
            reason = error.detail
          }
        }
        guard ContinuousClock.now < deadline else {
          throw EmbeddedServerError(
            .startFailed, "the database that process \(holder.id) runs in \(paths.home) does not answer: \(reason)")
        }
        try await Task.sleep(for: Self.look)
      } else {
        let tell = tell
        let process = try await SupervisorProcess.start(keeper, paths) { tell(.server($0)) }
        if try await process.isReady() { hasStarted = true }
      }
    }
  }
}
