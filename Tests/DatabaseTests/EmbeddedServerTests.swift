@testable import Database

@Suite struct `The embedded server` {
  private static var small: EmbeddedServer.Settings {
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = 16 << 20
    settings.options = ["--innodb-log-file-size=8M"]
    return settings
  }

  private static func write(_ value: Int, to configuration: DatabaseConfiguration) async throws {
    let connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE IF NOT EXISTS t (n INT)")
      _ = try session.execute("INSERT INTO t (n) VALUES (\(value))")
    }
    await connection.close()
  }

  private static func values(_ configuration: DatabaseConfiguration) async throws -> [Int] {
    let connection = try await Connection.open(configuration)
    let values = try await connection.read { session throws(DatabaseError) in
      var values: [Int] = []
      try session.query("SELECT n FROM t ORDER BY n") { row throws(DatabaseError) in values.append(try row.int("n")) }
      return values
    }
    await connection.close()
    return values
  }

  @Test func `keeps its data from one start to the next, and refuses a second one meanwhile`() async throws {
    let directory = TemporaryDirectory()
    Files.remove("\(directory.path)/data.new")
    try Files.makeDirectories("\(directory.path)/data.new/half", mode: 0o700)
    let first = EmbeddedServer(directory: directory.path, settings: Self.small)
    let configuration = try await first.start()
    try await Self.write(1, to: configuration)
    #expect(Files.status("\(directory.path)/data.new") == nil)

    let second = EmbeddedServer(directory: directory.path, settings: Self.small)
    await #expect(throws: EmbeddedServerError(.inUse(pid: getpid()), "")) { try await second.start() }
    await second.stop()
    #expect(try await Self.values(configuration) == [1])
    await #expect(throws: EmbeddedServerError(.misuse, "")) { try await first.start() }

    let pid = try #require(first.processID)
    await first.stop()
    #expect(kill(pid, 0) != 0)
    let third = EmbeddedServer(directory: directory.path, settings: Self.small)
    #expect(try await Self.values(try await third.start()) == [1])
    await third.stop()
  }

  @Test func `listens on a socket that only its own user can reach, as an unprivileged user`() async throws {
    let directory = TemporaryDirectory()
    let server = EmbeddedServer(directory: directory.path, settings: Self.small)
    let configuration = try await server.start()
    let paths = try EmbeddedPaths(directory: directory.path)
    #expect(configuration.address == .socket(path: "\(paths.run)/mariadbd.sock"))
    for directory in [paths.run, paths.data] {
      let status = try #require(Files.status(directory))
      #expect(status.mode == 0o700)
      #expect(status.owner == paths.user.id)
    }
    let pid = try #require(server.processID)
    let uids = String(decoding: Files.contents(of: "/proc/\(pid)/status", limit: 8_192) ?? [], as: UTF8.self)
      .split(separator: "\n").first { $0.hasPrefix("Uid:") }?.split(separator: "\t").dropFirst()
    #expect(uids.map(Set.init) == ["\(paths.user.id)"])
    if geteuid() == 0 { #expect(paths.user.id != 0) }

    let connection = try await Connection.open(configuration)
    let settings = try await connection.read { session throws(DatabaseError) in
      try session.query(
        """
        SELECT @@skip_networking AS network, @@innodb_flush_log_at_trx_commit AS flush, @@log_bin AS bin, \
        @@max_allowed_packet AS packet, @@collation_database AS collation
        """)[0]
    }
    #expect(try settings.bool("network"))
    #expect(try settings.int("flush") == 1)
    #expect(try !settings.bool("bin"))
    #expect(try settings.int("packet") == 64 << 20)
    #expect(try settings.text("collation") == "utf8mb4_bin")
    await connection.close()

    var stranger = configuration
    stranger.user = "stranger"
    await #expect(throws: DatabaseError(.accessDenied, "")) { try await Connection.open(stranger) }
    // Only our own output and the three standard descriptors may have come along.
    for name in Files.names(in: "/proc/\(pid)/fd") {
      guard let path = try? Files.resolved("/proc/\(pid)/fd/\(name)") else { continue }
      #expect(!path.contains(".xctest") && !path.hasSuffix("/lock"), "\(path)")
    }
    await server.stop()
  }

  @Test func `is started again when it dies, with everything that was committed`() async throws {
    let directory = TemporaryDirectory()
    let events = Shared<[EmbeddedServer.Event]>([])
    let server = EmbeddedServer(directory: directory.path, settings: Self.small) { event in
      events.change { $0.append(event) }
    }
    let configuration = try await server.start()
    try await Self.write(1, to: configuration)
    let first = try #require(server.processID)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      kill(first, SIGKILL)
      #expect(await eventually(within: .seconds(90)) { events.value.count { $0.isStart } == 2 })
      #expect(try await Self.values(configuration) == [1])
      #expect(events.value.contains(.died(code: 128 + SIGKILL, restartingAfter: .milliseconds(100))))
      group.cancelAll()
      try await group.waitForAll()
    }
    let second = try #require(server.processID)
    #expect(second != first)
    #expect(kill(second, 0) != 0)
  }

  @Test func `is given up when it dies too often`() async throws {
    let directory = TemporaryDirectory()
    var settings = Self.small
    settings.restarts = 1
    settings.firstRestartDelay = .milliseconds(1)
    let events = Shared<[EmbeddedServer.Event]>([])
    let server = EmbeddedServer(directory: directory.path, settings: settings) { event in
      events.change { $0.append(event) }
      if case .started(let pid) = event { kill(pid, SIGKILL) }
    }
    _ = try await server.start()
    await #expect(throws: EmbeddedServerError(.gaveUp, "")) { try await server.run() }
    #expect(events.value.count { $0.isStart } == 2)
  }

  @Test func `left over on the directory is stopped before the next start`() async throws {
    let directory = TemporaryDirectory()
    let first = EmbeddedServer(directory: directory.path, settings: Self.small)
    try await Self.write(1, to: try await first.start())
    await first.stop()
    let paths = try EmbeddedPaths(directory: directory.path)
    try Files.makeDirectories(paths.run, mode: 0o700)
    let orphan = try await ChildProcess.start(
      ChildProcess.Command(
        program: try ServerPrograms(searchPath: "").server,
        arguments: [
          "--no-defaults", "--datadir=\(paths.data)", "--socket=\(paths.run)/mariadbd.sock", "--skip-networking",
          "--innodb-log-file-size=8M",
        ], directory: paths.data, user: paths.user, output: paths.errorLog))
    #expect(await eventually(within: .seconds(90)) { Files.status("\(paths.run)/mariadbd.sock") != nil })

    let events = Shared<[EmbeddedServer.Event]>([])
    let next = EmbeddedServer(directory: directory.path, settings: Self.small) { event in
      events.change { $0.append(event) }
    }
    #expect(try await Self.values(try await next.start()) == [1])
    #expect(events.value.contains(.stoppedOrphan(pid: orphan.id)))
    #expect(!orphan.isRunning)
    await next.stop()
  }

  @Test func `ends with the process that started it, even by SIGKILL`() async throws {
    let directory = TemporaryDirectory()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
      let server = EmbeddedServer(directory: path)
      let configuration = try await server.start()
      try await Self.write(7, to: configuration)
      try Files.write("\(server.processID ?? 0)", to: "\(path)/pid")
      kill(getpid(), SIGKILL)
    }
    let pid = Int32(String(decoding: Files.contents(of: "\(directory.path)/pid", limit: 20) ?? [], as: UTF8.self)) ?? 0
    #expect(pid > 0)
    #expect(await eventually(within: .seconds(90)) { kill(pid, 0) != 0 })
    let next = EmbeddedServer(directory: directory.path, settings: EmbeddedServer.Settings())
    #expect(try await Self.values(try await next.start()) == [7])
    await next.stop()
  }

  @Test func `puts the socket elsewhere when its path would be too long`() async throws {
    let directory = TemporaryDirectory(suffix: "-" + String(repeating: "long", count: 25))
    let server = EmbeddedServer(directory: directory.path, settings: Self.small)
    let configuration = try await server.start()
    guard case .socket(let path) = configuration.address else {
      Issue.record("no socket")
      return
    }
    #expect(path.utf8.count < 107)
    #expect(path.hasPrefix("/tmp/switchyard-"))
    #expect(Files.status(Files.parent(of: path))?.mode == 0o700)
    try await Self.write(1, to: configuration)
    await server.stop()
    #expect(Files.status(Files.parent(of: path)) == nil)
  }

  @Test func `shows the end of its error log when it does not start`() async throws {
    let directory = TemporaryDirectory()
    var settings = Self.small
    settings.options = ["--no-such-option"]
    let server = EmbeddedServer(directory: directory.path, settings: settings)
    do {
      _ = try await server.start()
      Issue.record("it started")
    } catch let error as EmbeddedServerError {
      #expect(error == EmbeddedServerError(.startFailed, ""))
      #expect(error.detail.contains("unknown option '--no-such-option'"), "\(error)")
    }
    #expect(server.processID.map { kill($0, 0) } != 0)
    // The directory is free again.
    let next = EmbeddedServer(directory: directory.path, settings: Self.small)
    _ = try await next.start()
    await next.stop()
  }

  @Test func `names the packages when it is not installed`() {
    do throws(EmbeddedServerError) {
      _ = try ServerPrograms(searchPath: "/nowhere:relative", then: [])
      Issue.record("found")
    } catch {
      #expect(error.code == .programsMissing)
      #expect(error.detail.contains("mariadb-server-core") && error.detail.contains("mariadb-client-core"))
    }
  }

  @Test func `cannot be run before it was started, nor in a directory that cannot be made`() async throws {
    let directory = TemporaryDirectory()
    await #expect(throws: EmbeddedServerError(.misuse, "")) {
      try await EmbeddedServer(directory: directory.path).run()
    }
    await #expect(throws: EmbeddedServerError(.directory, "")) {
      try await EmbeddedServer(directory: "/proc/nothing/here").start()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root changes users"))
  func `moves to a place its user can enter, and says so`() async throws {
    let closed = TemporaryDirectory()
    try Files.change(closed.path, mode: 0o700)
    let events = Shared<[EmbeddedServer.Event]>([])
    let asked = "\(closed.path)/switchyard"
    let server = EmbeddedServer(directory: asked, settings: Self.small) { event in
      events.change { $0.append(event) }
    }
    let configuration = try await server.start()
    let home = try #require(await server.home)
    #expect(!home.hasPrefix(closed.path))
    #expect(EmbeddedServer.dataDirectory(of: asked) == "\(home)/data")
    try await Self.write(3, to: configuration)
    await server.stop()
    guard case .moved(let note) = events.value.first else {
      Issue.record("nothing was said")
      return
    }
    #expect(note.hasPrefix("\(closed.path) cannot be entered by"))
    #expect(note.hasSuffix(home))

    let again = EmbeddedServer(directory: asked, settings: Self.small)
    #expect(try await Self.values(try await again.start()) == [3])
    #expect(await again.home == home)
    await again.stop()
    Files.remove(home)
  }

  /// Memory, free disk, the redo log that is there, and the one that is taken, in MiB.
  private static let redoLogs: [[Int]] = [
    // Of a new database.
    [4_096, 1_000_000, 0, 2_048], [64, 1_000_000, 0, 128], [4_096, 10_240, 0, 1_024], [4_096, 1_024, 0, 128],
    [4_096, 0, 0, 16],
    // Of one that was made by an earlier version, or with other settings.
    [4_096, 1_000_000, 512, 2_048], [4_096, 1_024, 512, 512], [4_096, 10_240, 512, 1_024], [4_096, 0, 2_048, 2_048],
    [64, 0, 2_048, 2_048], [64, 1_000_000, 2_048, 128], [64, 0, 512, 512],
  ]

  @Test(arguments: redoLogs)
  func `has a redo log for which there is room on the disk`(sizes: [Int]) {
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = sizes[0] << 20
    let large = settings.smallLedger + 1
    #expect(settings.redoLog(free: sizes[1] << 20, present: sizes[2] << 20, tables: large) == sizes[3] << 20)
    // As long as the ledger is small.
    let small = settings.redoLog(free: sizes[1] << 20, present: 0, tables: 0)
    #expect(small <= 256 << 20)
  }

  @Test func `grows its redo log when its tables are no longer small, while it runs`() async throws {
    let directory = TemporaryDirectory()
    var settings = Self.small
    (settings.bufferPool, settings.smallLedger, settings.options) = (32 << 20, 0, [])
    let server = EmbeddedServer(directory: directory.path, settings: settings)
    let connection = try await Connection.open(try await server.start())
    func size() async throws -> Int? {
      try await connection.read { session throws(DatabaseError) in
        try session.query("SELECT @@innodb_log_file_size AS size").first?.int("size")
      }
    }
    #expect(try await size() == 16 << 20)
    await server.growRedoLog()
    #expect(try await size() == 64 << 20)
    await connection.close()
    await server.stop()
  }

  /// A service runs as its own user, and root looks at its database: the service has to get on.
  @Test(.enabled(if: geteuid() == 0, "only root changes users"))
  func `leaves nothing behind that its owner cannot open where root was first`() throws {
    let home = TemporaryDirectory()
    let owner = ServerUser(id: 65_534, group: 65_534, name: "nobody", isAnother: true)
    try Files.give(home.path, to: owner)
    func names() -> [String] { ["users", "lock", "keeper.log", "socket-directory"].map { "\(home.path)/\($0)" } }
    for _ in 0..<2 {
      _ = try UsageLockFile("\(home.path)/users")
      _ = try DirectoryLock(file: "\(home.path)/lock", asKeeper: true)
      try ErrorLog.prepare("\(home.path)/keeper.log")
      try Files.write("/tmp/switchyard-x", to: "\(home.path)/socket-directory")
      for name in names() { #expect(Files.status(name)?.owner == owner.id, "\(name)") }
      // As an earlier version left them.
      for name in names() { unsafe lchown(name, 0, 0) }
    }
    // A file with another name elsewhere is not given away.
    for name in names() { unsafe link(name, name + ".other") }
    _ = try UsageLockFile("\(home.path)/users")
    try ErrorLog.prepare("\(home.path)/keeper.log")
    for name in names() { #expect(Files.status(name)?.owner == 0, "\(name)") }
  }

  @Test func `sees an obstacle on the way`() throws {
    let directory = TemporaryDirectory()
    try Files.makeDirectories("\(directory.path)/a/b", mode: 0o755)
    let stranger = ServerUser(id: 12_345, group: 12_345, name: "stranger", isAnother: true)
    #expect(stranger.obstacle(onTheWayTo: "\(directory.path)/a/b") == nil)
    try Files.change("\(directory.path)/a", mode: 0o750)
    #expect(stranger.obstacle(onTheWayTo: "\(directory.path)/a/b") == "\(directory.path)/a")
    #expect(stranger.obstacle(onTheWayTo: "\(directory.path)/absent/b") == "\(directory.path)/absent")
    let ourselves = ServerUser(id: geteuid(), group: getegid(), name: "we", isAnother: false)
    #expect(ourselves.obstacle(onTheWayTo: "\(directory.path)/a/b") == nil)
  }
}

extension EmbeddedServer.Event {
  fileprivate var isStart: Bool {
    switch self {
    case .started: true
    case .moved, .initializing, .stoppedOrphan, .died: false
    }
  }
}
