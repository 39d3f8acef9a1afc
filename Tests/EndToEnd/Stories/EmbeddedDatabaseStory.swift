@testable import Database

/// Processes that share a private database.
///
/// It lives for as long as one of them does.
@Suite(.serialized) struct EmbeddedDatabaseStory {
  private let client = HTTPClient()

  /// The time after which a service has noticed that the database is gone.
  ///
  /// It looks once a second.
  private static let longEnough = Interval.seconds(3)

  /// A Ctrl-C in a terminal, or a supervisor, signals a whole group of processes.
  @Test func `stays with a second service when the group of the first one gets SIGINT`() async throws {
    try await PrivateInstallation.with { installation in
      let first = try await RunningProgram.serve(
        installation.program, ["--database-memory", "96M"], leadsGroup: true)
      let second = try await installation.serve()
      #expect(await second.becomesReady(client))
      let (database, keepers) = (installation.databases, installation.keepers)
      #expect(database.count == 1)
      try await expectMemory(installation)
      if geteuid() == 0 { expectUsers(installation) }
      kill(-first.id, SIGINT)
      #expect(await first.ended() == 0)
      #expect(await installation.keeps(database, for: second, client, within: Self.longEnough), "\(second.notes)")
      // A supervisor that stops all processes stops the users, and the database then ends.
      for process in keepers + database { kill(process, SIGTERM) }
      #expect(await installation.replaces(database), "\(installation.processes.map(\.line))")
      #expect(await second.becomesReady(client))
      #expect(installation.keepers == keepers)
      #expect(await second.end(SIGTERM) == 0, "\(second.notes)")
      // A service waits ten seconds for a database that no other process uses. A slow disk needs more.
      #expect(await eventually { installation.databases.isEmpty })
    }
    await client.shutdown()
  }

  /// The server has the buffer pool that the first process asked for.
  private func expectMemory(_ installation: PrivateInstallation) async throws {
    let row = try await installation.rows("SELECT @@innodb_buffer_pool_size AS size").first
    #expect(try row?.int("size") == 96 << 20)
    let doctor = try await installation.program.run("doctor", "--database-memory", "64M")
    #expect(doctor.output.contains("the database's buffer pool 96M"), "\(doctor)")
    #expect(!doctor.notes.contains("buffer pool of"), "it has enough: \(doctor)")
    let status = try await installation.program.run("db", "status", "--database-memory", "512M")
    #expect(status.status == 0)
    #expect(status.notes.contains("already runs with a buffer pool of 96M"), "\(status)")
  }

  /// Started by root, the server runs as another user, and its keeper as root.
  private func expectUsers(_ installation: PrivateInstallation) {
    let users = (installation.databases + installation.keepers).map { id in
      Program.text("/proc/\(id)/status").split(separator: "\n").first { $0.hasPrefix("Uid:") }?
        .split(separator: "\t").dropFirst().first.map(String.init)
    }
    #expect(users.count == 2)
    #expect(users.first != "0", "\(users)")
    #expect(users.last == "0", "\(users)")
  }

  @Test func `ends with its last user, even when all of them are killed`() async throws {
    try await PrivateInstallation.with { installation in
      let (first, second) = (try await installation.serve(), try await installation.serve())
      let database = installation.databases
      #expect(database.count == 1)
      #expect(await first.end(SIGTERM) == 0, "\(first.notes)")
      #expect(await installation.keeps(database, for: second, client, within: Self.longEnough), "\(second.notes)")
      let third = try await installation.serve()
      await second.end(SIGKILL)
      await third.end(SIGKILL)
      #expect(await eventually(within: .seconds(90)) { installation.processes.isEmpty })
      let fourth = try await installation.serve()
      #expect(await fourth.becomesReady(client))
      await fourth.end(SIGTERM)
    }
    await client.shutdown()
  }

  @Test func `is started again for its users when it is killed, and when its keeper is killed`() async throws {
    try await PrivateInstallation.with { installation in
      let (first, second) = (try await installation.serve(), try await installation.serve())
      for victims in [{ installation.databases }, { installation.keepers }] {
        let before = installation.databases
        #expect(!victims().isEmpty)
        for victim in victims() { kill(victim, SIGKILL) }
        #expect(await installation.replaces(before), "\(installation.processes.map(\.line))")
        for service in [first, second] { #expect(await service.becomesReady(client), "\(service.notes)") }
      }
      // Both had started one. The slower one ends.
      #expect(await eventually(within: .seconds(90)) { installation.keepers.count == 1 })
      let database = installation.databases
      await first.end(SIGKILL)
      #expect(await installation.keeps(database, for: second, client, within: Self.longEnough), "\(second.notes)")
      await second.end(SIGTERM)
    }
    await client.shutdown()
  }

  @Test func `is found again by all users where its path is too long for a socket`() async throws {
    try await PrivateInstallation.with(suffix: "-" + String(repeating: "long", count: 25)) { installation in
      let (first, second) = (try await installation.serve(), try await installation.serve())
      let database = installation.databases
      for keeper in installation.keepers { kill(keeper, SIGKILL) }
      await first.end(SIGKILL)
      #expect(await installation.replaces(database), "\(installation.processes.map(\.line))")
      #expect(await second.becomesReady(client), "\(second.notes)")
      let third = try await installation.serve()
      #expect(await third.becomesReady(client))
      let configuration = try #require(
        try EmbeddedServer.configuration(ofRunningIn: "\(installation.place.path)/data/database"))
      guard case .socket(let path) = configuration.address else {
        Issue.record("no socket")
        return
      }
      #expect(path.utf8.count < 107)
      #expect(path.hasPrefix("/tmp/switchyard-"))
      await second.end(SIGTERM)
      await third.end(SIGTERM)
      let isGone = await eventually { FileMetadata(String(path.dropLast("/mariadbd.sock".count))) == nil }
      #expect(isGone, "its directory remains")
    }
    await client.shutdown()
  }

  @Test func `is made once by five commands at the same time, and a command waits while it stops`() async throws {
    try await PrivateInstallation.with { installation in
      let program = installation.program
      let missing = try await program.run("db", "migrate", "--dry-run", "--json").objects.first
      #expect(missing?["installed"] == 0)
      let outcomes = try await withThrowingTaskGroup(of: Program.Outcome.self) { group in
        for _ in 0..<5 { group.addTask { try await program.run("db", "migrate", "--json") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes)")
      // As a keeper that is stopping the database.
      let users = try UsageLockFile("\(installation.place.path)/data/database/users")
      try await users.lockOut()
      let place = TemporaryDirectory()
      try program.write([], to: "\(place.path)/input")
      let status = try program.spawn(["db", "status", "--json"] + program.options, place.path)
      let isWaiting = await eventually {
        Program.text("\(place.path)/notes").contains("waiting for the private database to stop")
      }
      users.leave()
      #expect(isWaiting, "\(Program.text("\(place.path)/notes"))")
      #expect(await Program.ended(status) == 0, "\(Program.text("\(place.path)/notes"))")
      let report = try JSONReader.read(Array(Program.text("\(place.path)/output").utf8)).object
      #expect(report?["schema"]?.object?["isCurrent"] == true, "\(report ?? [:])")
      let service = try await installation.serve()
      kill(service.id, SIGTERM)
      #expect(try await program.run("db", "status").status == 0)
      #expect(await service.ended() == 0)
    }
  }
}
