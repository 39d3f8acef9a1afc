@testable import Database

/// What processes that share a private database leave each other in its directory.
@Suite struct `A shared database directory` {
  private let directory = TemporaryDirectory()

  @Test func `knows its users, and locks out newcomers only when there is none`() async throws {
    let path = "\(directory.path)/users"
    let (first, second, keeper) = (try UsageLockFile(path), try UsageLockFile(path), try UsageLockFile(path))
    #expect(first.others == .nothing)
    #expect(try first.join() && second.join())
    #expect(first.others == .users)
    second.leave()
    #expect(first.others == .nothing, "its own lock is nobody else's")

    let isLockedOut = Shared(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await keeper.lockOut()
        isLockedOut.change { $0 = true }
      }
      #expect(try second.join())
      first.leave()
      for _ in 0..<10 { await Task.yield() }
      #expect(!isLockedOut.value)
      second.leave()
      try await group.waitForAll()
    }
    #expect(first.others == .keeper)
    #expect(try !first.join())
    keeper.leave()
    #expect(try first.join())
  }

  @Test func `lets a wait for the last user end when it is cancelled`() async throws {
    let path = "\(directory.path)/users"
    let (user, keeper) = (try UsageLockFile(path), try UsageLockFile(path))
    #expect(try user.join())
    let task = Task { try await keeper.lockOut() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `forgets a user that was killed`() async throws {
    let path = "\(directory.path)/users"
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      _ = try UsageLockFile(path).join()
      let user = try UsageLockFile(path)
      _ = try user.join()
      withExtendedLifetime(user) { _ = kill(getpid(), SIGKILL) }
    }
    #expect(try UsageLockFile(path).others == .nothing)
  }

  @Test func `cannot be locked where it cannot be written`() {
    #expect(throws: EmbeddedServerError(.directory, "")) { try UsageLockFile("\(directory.path)/none/users") }
  }

  @Test func `says who runs the server, and whether that is a keeper`() throws {
    let path = "\(directory.path)/lock"
    #expect(try DirectoryLock.holder(of: path) == nil)
    do {
      let lock = try DirectoryLock(file: path)
      #expect(try DirectoryLock.holder(of: path) == .init(id: getpid(), isKeeper: false))
      #expect(throws: EmbeddedServerError(.inUse(pid: getpid()), "")) { _ = try DirectoryLock(file: path) }
      withExtendedLifetime(lock) {}
    }
    #expect(try DirectoryLock.holder(of: path) == nil)
    let keeper = try DirectoryLock(file: path, asKeeper: true)
    #expect(try DirectoryLock.holder(of: path) == .init(id: getpid(), isKeeper: true))
    withExtendedLifetime(keeper) {}
  }

  @Test(
    arguments: [
      .event(.moved("a \"reason\"\nof two lines")), .event(.initializing(directory: "/d", user: "mysql")),
      .event(.stoppedOrphan(pid: 7)), .event(.started(pid: 8)),
      .event(.died(code: 137, restartingAfter: .milliseconds(100))),
      .failed(EmbeddedServerError(.inUse(pid: 9), "in use")),
      .failed(EmbeddedServerError(.startFailed, "mariadbd did not start\nthe end of error.log")),
      .failed(EmbeddedServerError(.programsMissing, "install it")), .failed(EmbeddedServerError(.gaveUp, "five times")),
    ] as [SupervisorReport])
  func `hears a report as it was made`(report: SupervisorReport) throws {
    let line = report.json.encoded()
    #expect(!line.contains(UInt8(ascii: "\n")))
    let heard = try #require(SupervisorReport(line))
    #expect(heard.json == report.json)
    switch (report, heard) {
    case (.event(let made), .event(let heard)): #expect(made == heard)
    case (.failed(let made), .failed(let heard)): #expect(made == heard && made.detail == heard.detail)
    default: Issue.record("another kind")
    }
  }

  @Test(arguments: ["", "{", "[]", #"{"event":"other"}"#, #"{"error":"other","detail":""}"#])
  func `takes no other line for a report`(line: String) { #expect(SupervisorReport(Array(line.utf8)) == nil) }

  @Test func `says why a keeper could not be started`() async throws {
    func open(_ script: String) async throws {
      let keeper = SupervisorProgram(path: "/bin/sh", arguments: ["-c", script], environment: ["PATH=/usr/bin:/bin"])
      _ = try await EmbeddedDatabase.open(directory: directory.path, keeper: keeper)
    }
    let failure = await #expect(throws: EmbeddedServerError(.startFailed, "")) {
      try await open("echo no memory left >&2; exit 3")
    }
    #expect(failure?.detail.contains("ended with 3") == true)
    #expect(failure?.detail.contains("no memory left") == true, "the end of its log")
    let told = await #expect(throws: EmbeddedServerError(.programsMissing, "")) {
      try await open(#"echo '{"error":"programsMissing","detail":"install it"}'"#)
    }
    #expect(told?.detail == "install it")
    await #expect(throws: EmbeddedServerError(.startFailed, "")) {
      let keeper = SupervisorProgram(path: "/nowhere/switchyard", arguments: [], environment: [])
      _ = try await EmbeddedDatabase.open(directory: directory.path, keeper: keeper)
    }
  }
}

/// What root removes in a directory in which another user may write.
@Suite struct `Removing a directory` {
  private let directory = TemporaryDirectory()

  private func write(_ path: String) throws { try Files.write("x", to: "\(directory.path)/\(path)") }

  @Test func `removes links and follows none`() throws {
    try Files.makeDirectories("\(directory.path)/outside", mode: 0o700)
    try write("outside/kept")
    try Files.makeDirectories("\(directory.path)/run/deep/deeper", mode: 0o700)
    try write("run/deep/deeper/file")
    unsafe symlink("\(directory.path)/outside", "\(directory.path)/run/deep/link")
    unsafe symlink("\(directory.path)/outside", "\(directory.path)/link")
    Files.remove("\(directory.path)/run")
    Files.remove("\(directory.path)/link")
    #expect(Files.names(in: directory.path) == ["outside"])
    #expect(Files.names(in: "\(directory.path)/outside") == ["kept"])
  }

  @Test func `leaves what belongs to another user than was said`() throws {
    try Files.makeDirectories("\(directory.path)/theirs", mode: 0o700)
    try write("theirs/file")
    try write("plain")
    unsafe symlink("\(directory.path)/theirs", "\(directory.path)/link")
    Files.remove("\(directory.path)/theirs", ownedBy: geteuid() + 1)
    Files.remove("\(directory.path)/link", ownedBy: geteuid())
    Files.remove("\(directory.path)/plain", ownedBy: geteuid())
    #expect(Set(Files.names(in: directory.path)) == ["theirs", "plain", "link"])
    #expect(Files.names(in: "\(directory.path)/theirs") == ["file"])
    Files.remove("\(directory.path)/theirs", ownedBy: geteuid())
    #expect(Set(Files.names(in: directory.path)) == ["plain", "link"])
  }

  /// What a process of the database's user could do while root removes its directory.
  @Test func `is not led elsewhere by a link that takes a directory's place meanwhile`() async throws {
    let place = directory.path
    let names = (0..<20).map { "f\($0)" }
    try Files.makeDirectories("\(place)/outside", mode: 0o700)
    for name in names { try write("outside/\(name)") }
    let isOver = Shared(false)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while !isOver.value {
          unsafe rename("\(place)/run/a", "\(place)/run/b")
          unsafe symlink("\(place)/outside", "\(place)/run/a")
          unsafe unlink("\(place)/run/a")
          unsafe rename("\(place)/run/b", "\(place)/run/a")
          await Task.yield()
        }
      }
      for _ in 0..<300 {
        try? Files.makeDirectories("\(place)/run/a", mode: 0o700)
        for name in names { try? Files.write("x", to: "\(place)/run/a/\(name)") }
        Files.remove("\(place)/run")
      }
      isOver.change { $0 = true }
    }
    #expect(Set(Files.names(in: "\(place)/outside")) == Set(names))
  }
}
