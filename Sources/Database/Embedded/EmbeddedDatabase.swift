import Runtime
package import Time

/// The use of a directory's private database by this process, beside any number of others.
///
/// The server runs in a process of its own, with the keeper that watches it (`DatabaseSupervisor`). It is started by the
/// first user and stopped after the last one.
package actor EmbeddedDatabase {
  /// What an operator is told.
  package enum Event: Sendable {
    /// Of a keeper that this process started.
    case server(EmbeddedServer.Event)
    /// The server takes long to start, as it does after a crash; with its log.
    case waitingForStart(log: String)
    /// Another process is stopping the server, and has to finish before it is started again.
    case waitingForStop
    /// The keeper was killed, and the server with it.
    case keeperLost
    /// This process has no file descriptor left, so it cannot look after the server; it tries again until it can.
    case tooManyFiles
    /// Nobody else uses the server, and it takes long to stop.
    case leftStopping
  }

  private let paths: EmbeddedPaths
  private let settings: EmbeddedServer.Settings
  private let keeper: SupervisorProgram
  private let users: UsageLockFile
  private let tell: @Sendable (Event) -> Void
  private var hasStarted = false

  private static let look = Duration.milliseconds(20)
  /// A start that takes longer is told of.
  private static let shortStart = Duration.seconds(10)
  /// A stop that is waited for longer is told of.
  private static let shortStop = Duration.seconds(1)
  /// How often it is looked whether the keeper lives.
  private static let watch = Duration.milliseconds(250)
  /// How long it waits until it looks again when no descriptor was left.
  private static let pause = Duration.seconds(1)
  /// How long a server that is being stopped may take; then its keeper has killed it.
  private static let longestStop = Duration.seconds(180)
  /// Keepers lost in a row, each within a minute of the start before it, after which the database is given up.
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

  /// Joins the users of the database, starts it if need be, and returns when it answers.
  ///
  /// - Parameters:
  ///   - directory: for the database alone; made if need be, as `EmbeddedServer` says.
  ///   - settings: how to reach the server; its size is the keeper's to know.
  ///   - keeper: what to start when no keeper runs.
  package static func open(
    directory: String, settings: EmbeddedServer.Settings = EmbeddedServer.Settings(), keeper: SupervisorProgram,
    tell: @escaping @Sendable (Event) -> Void = { _ in }
  ) async throws -> (database: EmbeddedDatabase, configuration: DatabaseConfiguration) {
    let database = try EmbeddedDatabase(EmbeddedPaths(directory: directory), settings, keeper, tell)
    do {
      try await database.join()
      return (database, try await database.available())
    } catch {
      // Nobody waits for its stop, and nothing is said of it.
      database.users.leave()
      throw error
    }
  }

  /// Whether this process started the keeper that runs now, or one before it.
  package var isOurs: Bool { hasStarted }

  /// Starts the keeper again whenever it is gone; throws when it cannot be started, or is lost too often in a row.
  ///
  /// Returns when its task is cancelled; the database is used until `close`.
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
        // What has its connections goes on meanwhile, and connections end: no reason to end the process.
        guard (error as? EmbeddedServerError)?.code == .tooManyFiles || Files.areExhausted else { throw error }
        if !isShort { tell(.tooManyFiles) }
        isShort = true
      }
    }
  }

  /// Keepers that were lost in a row.
  private struct Losses {
    var count = 0
    var last = ContinuousClock.now
    /// Whether the last one has no successor yet.
    var isOpen = false
  }

  /// Starts the keeper again if it is gone, and returns when its server answers.
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
  /// Where nobody else uses it, waits until it has stopped, or `limit` is over: its keeper goes on stopping it then. Waits
  /// although the current task may be cancelled: whoever closes is ending already.
  package func close(within limit: Interval) async {
    users.leave()
    let deadline = ContinuousClock.now + .milliseconds(limit.milliseconds)
    try? await withCancellationShield { await self.stopped(by: deadline) }
  }

  private func stopped(by deadline: ContinuousClock.Instant) async {
    // A server without a keeper ends with its process, whoever uses it.
    while isKept {
      if case .users = users.others { return }
      guard ContinuousClock.now < deadline else { return tell(.leftStopping) }
      try? await Task.sleep(for: Self.look)
    }
  }

  /// Whether a keeper has the server; true also while that cannot be seen, for want of a file descriptor.
  private var isKept: Bool {
    do { return try DirectoryLock.holder(of: paths.lock)?.isKeeper ?? false } catch { return true }
  }

  /// Waits while a keeper is stopping the server.
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

  /// How to reach the server, once it answers; started when nobody runs it.
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
