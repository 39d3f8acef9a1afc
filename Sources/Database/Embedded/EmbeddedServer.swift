import Glibc
import Synchronization
package import Time

/// The private MariaDB of one machine, which this process creates, starts, watches and stops.
///
/// Several processes share a server by `DatabaseSupervisor` and `EmbeddedDatabase`. It listens only on a Unix socket.
/// The kernel authenticates the account (`unix_socket`), and only the server's user can enter the directories, so there
/// is no password.
package actor EmbeddedServer {
  package struct Settings: Sendable, Equatable {
    /// The database to create, named in the configuration that `start` returns.
    package var database = "switchyard"
    /// The bytes of InnoDB's buffer pool.
    package var bufferPool = 256 << 20
    /// The bytes of InnoDB's redo log: twice the buffer pool, between 64 MiB and 2 GiB.
    ///
    /// A notification writes about 8 KB. When the log is full, pages are flushed while requests wait, and the rate
    /// falls by a third. A larger log only slows down recovery.
    package var redoLog: Int { min(2 << 30, max(64 << 20, 2 * bufferPool)) }

    /// The bytes of tables up to which the redo log is limited too, so that a new database needs little disk space.
    package var smallLedger = 256 << 20

    /// Returns the size of the redo log for `free` bytes of disk space, a `present` log (0 if missing) and `tables`
    /// bytes.
    ///
    /// A new log has at most an eighth of the free space, and at least 16 MiB. A larger one is not created, since the
    /// server writes it next to the old one. Powers of two avoid a new size with each start.
    func redoLog(free: Int, present: Int, tables: Int) -> Int {
      let redoLog = tables > smallLedger ? redoLog : min(redoLog, max(16 << 20, smallLedger))
      if redoLog == present { return present }
      var room = 16 << 20
      while room < redoLog, 2 * room <= free / 8 { room *= 2 }
      if redoLog <= room { return redoLog }
      return max(present, room)
    }

    package var connections = 200
    package var searchPath = ""
    /// The time after which a server that does not respond is killed.
    ///
    /// A start includes recovery after a crash.
    package var startLimit: Interval = .minutes(2)
    /// The time after which a server that was asked to end is killed.
    package var stopLimit: Interval = .seconds(30)
    /// The number of crashes in a row, each within a minute of its start, after which `run` throws.
    package var restarts = 5
    package var firstRestartDelay: Interval = .milliseconds(100)
    /// Further options of mariadbd.
    ///
    /// The last of two equal ones counts.
    package var options: [String] = []

    package init() {}
  }

  package enum Event: Sendable, Equatable {
    /// The data is not in the requested directory, with the reason.
    case moved(String)
    case initializing(directory: String, user: String)
    case stoppedOrphan(pid: Int32)
    case started(pid: Int32)
    case died(code: Int32, restartingAfter: Interval)
  }

  private struct Control {
    var process: ChildProcess?
    var isStopping = false
  }

  private let directory: String
  private let settings: Settings
  private let isKeeper: Bool
  private let tell: @Sendable (Event) -> Void
  private let control = Mutex(Control())
  private var paths: EmbeddedPaths?
  private var lock: DirectoryLock?
  private var configuration: DatabaseConfiguration?
  private var command: ChildProcess.Command?

  /// - Parameters:
  ///   - directory: only for this server, created if necessary. As root, other users must be able to enter it and all
  ///     its parents. Otherwise the data goes to /var/lib/switchyard-<hash>, which an event reports.
  ///   - isKeeper: whether this process stops the server after its last user. Other processes can read this.
  package init(
    directory: String, settings: Settings = Settings(), isKeeper: Bool = false,
    tell: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    self.directory = directory
    self.settings = settings
    self.isKeeper = isKeeper
    self.tell = tell
  }

  package nonisolated var processID: Int32? { control.withLock { $0.process?.id } }

  package var home: String? { paths?.home }

  /// Starts the server, and returns when it responds.
  ///
  /// The first start creates the data directory under another name and renames it, so that it is never incomplete. It
  /// first stops a server of a killed process. After a failure no process keeps running.
  package func start() async throws -> DatabaseConfiguration {
    guard lock == nil, !isStopping else { throw EmbeddedServerError(.misuse, "start() is for once") }
    let programs = try ServerPrograms(searchPath: settings.searchPath)
    let paths = try EmbeddedPaths(directory: directory)
    lock = try await lock(paths)
    self.paths = paths
    do {
      if let note = paths.note { tell(.moved(note)) }
      for place in [paths.newData, paths.data] {
        for orphan in OrphanServer.all(onDataDirectory: place) {
          try await orphan.stop(on: place, grace: settings.stopLimit)
          tell(.stoppedOrphan(pid: orphan.id))
        }
      }
      let socket = try prepareRun(paths)
      try await makeData(paths, programs)
      command = ChildProcess.Command(
        program: programs.server, arguments: arguments(paths, socket: socket, redoLog: redoLog(paths)),
        directory: paths.data,
        user: paths.user, output: paths.errorLog)
      let server = DatabaseConfiguration(address: .socket(path: socket), user: ServerUser.ourName ?? "root")
      try await launch(server)
      let configuration = server.database(settings.database)
      self.configuration = configuration
      return configuration
    } catch {
      await stop()
      throw error
    }
  }

  /// Watches the server and restarts it after a crash, with growing delays.
  ///
  /// Throws `gaveUp` after too many crashes in a row. Returns after `stop`. Stops the server if its task is cancelled.
  package func run() async throws {
    guard let configuration, let process else { throw EmbeddedServerError(.misuse, "run() comes after start()") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(30))
          if !Task.isCancelled { await self.growRedoLog() }
        }
      }
      defer { group.cancelAll() }
      try await watch(process, configuration)
    }
  }

  private func watch(_ first: ChildProcess, _ configuration: DatabaseConfiguration) async throws {
    var process = first
    try await withTaskCancellationHandler {
      var deaths = 0
      while true {
        let start = ContinuousClock.now
        let code = await process.ended()
        if isStopping { return await stop() }
        deaths = ContinuousClock.now - start > .seconds(60) ? 1 : deaths + 1
        guard deaths <= settings.restarts else {
          let end = ErrorLog.end(of: paths?.errorLog)
          await stop()
          throw EmbeddedServerError(.gaveUp, "mariadbd died \(deaths) times in a row, last with \(code)\n\(end)")
        }
        let delay = min(5_000, settings.firstRestartDelay.milliseconds << Int64(deaths - 1))
        tell(.died(code: code, restartingAfter: .milliseconds(delay)))
        try? await Task.sleep(for: .milliseconds(delay))
        if isStopping { return await stop() }
        do {
          try await launch(configuration.database(nil))
        } catch {
          if isStopping { return await stop() }
          continue  // Its process has ended, which counts as the next crash.
        }
        if let next = self.process { process = next }
      }
    } onCancel: {
      beginStop()
    }
  }

  /// Asks the server to end, waits, kills it after the limit, and releases the directory.
  package func stop() async {
    beginStop()
    if let process { _ = await process.ended() }
    paths?.removeSocketDirectory()
    lock = nil
  }

  /// Locks the directory.
  ///
  /// Throws `inUse` if another process holds it longer than a check of the holder takes.
  private func lock(_ paths: EmbeddedPaths) async throws(EmbeddedServerError) -> DirectoryLock {
    for _ in 0..<20 {
      do throws(EmbeddedServerError) { return try DirectoryLock(file: paths.lock, asKeeper: isKeeper) } catch {
        guard case .inUse = error.code, !Task.isCancelled else { throw error }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
    return try DirectoryLock(file: paths.lock, asKeeper: isKeeper)
  }

  private nonisolated var isStopping: Bool { control.withLock { $0.isStopping } }

  private nonisolated var process: ChildProcess? { control.withLock { $0.process } }

  private nonisolated func beginStop() {
    let process = control.withLock { control in
      control.isStopping = true
      return control.process
    }
    process?.terminate(grace: settings.stopLimit)
  }

  /// Starts the process and waits until it responds and has the database.
  private func launch(_ server: DatabaseConfiguration) async throws {
    guard let command, let paths else { return }
    let process = try await ChildProcess.start(command)
    control.withLock { $0.process = process }
    if isStopping { process.terminate(grace: settings.stopLimit) }
    let deadline = ContinuousClock.now + .milliseconds(settings.startLimit.milliseconds)
    var lastError: DatabaseError?
    while process.isRunning, ContinuousClock.now < deadline, !Task.isCancelled {
      do throws(DatabaseError) {
        let connection = try await Connection.open(server)
        let name = settings.database
        try await connection.read { session throws(DatabaseError) in try session.createDatabase(name) }
        await connection.close()
        return tell(.started(pid: process.id))
      } catch {
        lastError = error
        guard error.isRetryable else { break }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    process.terminate(grace: settings.stopLimit)
    let code = await process.ended()
    let reason = lastError.map { "; the last answer: \($0.detail)" } ?? ""
    throw EmbeddedServerError(
      .startFailed,
      "mariadbd did not start (exit \(code))\(reason)\(Self.shortage(onDiskOf: paths.home))\n\(ErrorLog.end(of: paths.errorLog))"
    )
  }

  /// Returns a message about low disk space, a possible cause of a failed start.
  ///
  /// Empty if there is enough or it is unknown.
  private static func shortage(onDiskOf directory: String) -> String {
    guard let free = Files.freeBytes(onDiskOf: directory), free < 256 << 20 else { return "" }
    return "; the disk of \(directory) has only \(free >> 20) MB left"
  }

  private func makeData(_ paths: EmbeddedPaths, _ programs: ServerPrograms) async throws {
    Files.remove(paths.newData)
    if Files.status(paths.data) != nil { return }
    tell(.initializing(directory: paths.data, user: paths.user.name))
    try Files.makeDirectories(paths.newData, mode: 0o700)
    try Files.give(paths.newData, to: paths.user)
    let log = "\(paths.home)/initialization.log"
    Files.remove(log)
    let account = ServerUser.ourName
    // A starting mariadbd removes every "#sql…" in its temporary directory, even another server's: never share /tmp.
    let installer = try await ChildProcess.start(
      ChildProcess.Command(
        program: programs.installer,
        arguments: [
          "--no-defaults", "--datadir=\(paths.newData)", "--skip-test-db", "--skip-name-resolve",
          "--auth-root-authentication-method=\(account == nil ? "normal" : "socket")",
          "--auth-root-socket-user=\(account ?? "root")", "--innodb-buffer-pool-size=32M",
          "--tmpdir=\(paths.run)",
        ], directory: paths.newData, user: paths.user, output: log))
    control.withLock { $0.process = installer }
    let code = await installer.ended()
    control.withLock { $0.process = nil }
    guard code == 0, Files.status("\(paths.newData)/mysql")?.isDirectory == true else {
      let end = ErrorLog.end(of: log)
      Files.remove(paths.newData)
      throw EmbeddedServerError(.initializationFailed, "mariadb-install-db ended with \(code)\n\(end)")
    }
    Files.remove(log)
    try Files.rename(paths.newData, to: paths.data)
    Files.synchronize(directory: paths.home)
  }

  private func prepareRun(_ paths: EmbeddedPaths) throws -> String {
    Files.remove(paths.run)
    try Files.makeDirectories(paths.run, mode: 0o700)
    try Files.give(paths.run, to: paths.user)
    try ErrorLog.prepare(paths.errorLog, for: paths.user)
    return try "\(paths.socketDirectory())/\(EmbeddedPaths.socketName)"
  }

  private func redoLog(_ paths: EmbeddedPaths) -> Int {
    guard let free = Files.freeBytes(onDiskOf: paths.home) else { return settings.redoLog }
    let folder = "\(paths.data)/\(settings.database)"
    let tables = Files.names(in: folder).reduce(0) { $0 + (Files.status("\(folder)/\($1)")?.size ?? 0) }
    return settings.redoLog(free: free, present: presentRedoLog(paths), tables: tables)
  }

  private func presentRedoLog(_ paths: EmbeddedPaths) -> Int { Files.status("\(paths.data)/ib_logfile0")?.size ?? 0 }

  /// Resizes the redo log of the running server once its tables are no longer small.
  ///
  /// A failure is retried half a minute later, and with the next start.
  func growRedoLog() async {
    guard let paths, let configuration, !isStopping else { return }
    let wanted = redoLog(paths)
    guard wanted > presentRedoLog(paths),
      let connection = try? await Connection.open(configuration.database(nil))
    else { return }
    _ = try? await connection.read { session throws(DatabaseError) in
      try session.run("SET GLOBAL innodb_log_file_size = \(digits: Int64(wanted))")
    }
    await connection.close()
  }

  private func arguments(_ paths: EmbeddedPaths, socket: String, redoLog: Int) -> [String] {
    [
      "--no-defaults", "--datadir=\(paths.data)", "--socket=\(socket)", "--pid-file=\(paths.run)/mariadbd.pid",
      "--log-error=\(paths.errorLog)", "--tmpdir=\(paths.run)", "--secure-file-priv=\(paths.run)",
      "--skip-networking", "--skip-name-resolve", "--skip-log-bin", "--local-infile=0", "--symbolic-links=0",
      "--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin", "--max-allowed-packet=64M",
      "--max-connections=\(settings.connections)", "--performance-schema=OFF",
      "--innodb-buffer-pool-size=\(settings.bufferPool)", "--innodb-flush-log-at-trx-commit=1",
      "--innodb-log-file-size=\(redoLog)",
    ] + settings.options
  }
}
