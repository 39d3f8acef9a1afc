import Glibc
import HTTPClient
import JSON
import Runtime
import Support
import Testing
import Time

@testable import Database

/// Processes that share a private database: it lives for as long as one of them does.
@Suite(.serialized) struct `The private database` {
  private static let app = "com.example.private"
  private let client = HTTPClient()

  /// How long the database could be missed before a service notices: it looks once a second.
  private static let longEnough = Interval.seconds(3)

  @Test(arguments: [SIGTERM, SIGINT, SIGKILL])
  func `stays with a second service when the one that started it ends`(signal: Int32) async throws {
    try await PrivateInstallation.with { installation in
      let first = try await installation.serve()
      let second = try await installation.serve()
      #expect(await second.becomesReady(client))
      let database = installation.databases
      #expect(database.count == 1)
      await first.end(signal)
      #expect(
        await installation.keeps(database, for: second, client, within: Self.longEnough), "\(second.notes)")
      #expect(await second.end(SIGTERM) == 0, "\(second.notes)")
      // A service that ends by itself waits ten seconds for the database that nobody else uses; a slow disk needs more.
      #expect(await eventually { installation.databases.isEmpty })
    }
    await client.shutdown()
  }

  @Test func `ends with its last user, even when all of them are killed`() async throws {
    try await PrivateInstallation.with { installation in
      let (first, second) = (try await installation.serve(), try await installation.serve())
      #expect(installation.databases.count == 1)
      await first.end(SIGKILL)
      await second.end(SIGKILL)
      #expect(await eventually(within: .seconds(90)) { installation.processes.isEmpty })
      let third = try await installation.serve()
      #expect(await third.becomesReady(client))
      await third.end(SIGTERM)
    }
    await client.shutdown()
  }

  @Test func `is started again for those who use it, whatever of it is killed`() async throws {
    try await PrivateInstallation.with { installation in
      let (first, second) = (try await installation.serve(), try await installation.serve())
      for victims in [{ installation.databases }, { installation.keepers }] {
        let before = installation.databases
        #expect(!victims().isEmpty)
        for victim in victims() { kill(victim, SIGKILL) }
        let isNew = await eventually(within: .seconds(90)) {
          let now = installation.databases
          return now.count == 1 && now != before
        }
        #expect(isNew, "\(installation.processes.map(\.line))")
        for service in [first, second] { #expect(await service.becomesReady(client), "\(service.notes)") }
      }
      // Both had started one; of two the slower ends.
      #expect(await eventually(within: .seconds(90)) { installation.keepers.count == 1 })
      let database = installation.databases
      await first.end(SIGKILL)
      #expect(
        await installation.keeps(database, for: second, client, within: Self.longEnough), "\(second.notes)")
      await second.end(SIGTERM)
    }
    await client.shutdown()
  }

  /// What a Ctrl-C in a terminal, or a supervisor, sends to a whole group of processes.
  @Test func `is not reached by what a terminal sends to everybody in it`() async throws {
    try await PrivateInstallation.with { installation in
      let first = try await RunningProgram.serve(installation.program, [], leadsGroup: true)
      let second = try await installation.serve()
      let (database, keepers) = (installation.databases, installation.keepers)
      kill(-first.id, SIGINT)
      #expect(await first.ended() == 0)
      #expect(
        await installation.keeps(database, for: second, client, within: Self.longEnough), "\(second.notes)")
      // Who stops everything there is stops the users; the database then ends by itself.
      for keeper in keepers { kill(keeper, SIGTERM) }
      for server in database { kill(server, SIGTERM) }
      #expect(await second.becomesReady(client))
      #expect(await eventually(within: .seconds(90)) { installation.databases.count == 1 })
      #expect(installation.keepers == keepers)
      await second.end(SIGTERM)
    }
    await client.shutdown()
  }

  @Test func `is found again by all where its socket has a path of its own`() async throws {
    try await PrivateInstallation.with(suffix: "-" + String(repeating: "long", count: 25)) { installation in
      let (first, second) = (try await installation.serve(), try await installation.serve())
      for keeper in installation.keepers { kill(keeper, SIGKILL) }
      await first.end(SIGKILL)
      #expect(await eventually(within: .seconds(90)) { installation.databases.count == 1 })
      #expect(await second.becomesReady(client), "\(second.notes)")
      let third = try await installation.serve()
      #expect(await third.becomesReady(client))
      let configuration = try #require(
        try EmbeddedServer.configuration(ofRunningIn: "\(installation.place.path)/data/database"))
      guard case .socket(let path) = configuration.address else {
        Issue.record("no socket")
        return
      }
      #expect(path.utf8.count < 107 && path.hasPrefix("/tmp/switchyard-"))
      await second.end(SIGTERM)
      await third.end(SIGTERM)
      let isGone = await eventually { FileFacts(String(path.dropLast("/mariadbd.sock".count))) == nil }
      #expect(isGone, "its directory is there")
    }
    await client.shutdown()
  }

  @Test(.enabled(if: geteuid() == 0, "only root changes users"))
  func `runs as another user where root starts it, and what keeps it as root`() async throws {
    try await PrivateInstallation.with { installation in
      let service = try await installation.serve()
      let users = (installation.databases + installation.keepers).map { id in
        Program.text("/proc/\(id)/status").split(separator: "\n").first { $0.hasPrefix("Uid:") }?
          .split(separator: "\t").dropFirst().first.map(String.init)
      }
      #expect(users.count == 2)
      #expect(users.first != "0" && users.last == "0", "\(users)")
      await service.end(SIGTERM)
    }
  }

  /// A command that asks Apple, and beside it a service, of which one goes first.
  @Test(
    arguments: [["reconcile", app, "--environment", "Sandbox"], ["seeds", "run", "--once"]], [true, false])
  func `outlives whichever of a service and a command goes first`(
    command: [String], serviceGoes: Bool
  ) async throws {
    try await Market.with([Self.app], customers: 40) { market in
      try await PrivateInstallation.with { installation in
        let program = installation.program
        try await market.register(Self.app, program)
        let operation = command[0] == "seeds" ? "getTransactionHistory" : "getNotificationHistory"
        let words = command + market.trust + ["--json"]
        // A service that cannot open the key leaves all the asking to the command.
        let other = installation.place.file("other.key", Array(String(repeating: "cd", count: 32).utf8))
        let quiet = ["--reconcile-every", "0", "--heartbeat-every", "0", "--master-key-file", other]
        var service: RunningProgram? = try await installation.serve(quiet)
        try await installation.addWork(market)
        // Whoever comes first starts the database.
        if !serviceGoes {
          await service?.end(SIGTERM)
          service = nil
        }
        try await market.control(
          "fault", "fault=slow", "value=\(serviceGoes ? 300 : 6_000)", "on=api", "operation=\(operation)", "times=null")
        let place = TemporaryDirectory()
        try program.write([], to: "\(place.path)/input")
        let id = try program.spawn(words + program.options, place.path)
        var database: [pid_t] = []
        #expect(try await eventually { try await market.matched() > 0 }, "\(Program.text("\(place.path)/notes"))")
        if let service {
          #expect(await service.end(SIGTERM) == 0)
        } else {
          service = try await installation.serve(quiet)
          database = installation.databases
          kill(id, SIGINT)
        }
        let status = await Program.ended(id)
        let (output, notes) = (Program.text("\(place.path)/output"), Program.text("\(place.path)/notes"))
        let outcome = Program.Outcome(status: status, output: output, notes: notes)
        if serviceGoes {
          #expect(status == 0, "\(outcome)")
          #expect(try outcome.objects.last?["stoppedBy"] == nil)
        } else {
          #expect(status == 130, "\(outcome)")
          let running = try #require(service)
          #expect(database.count == 1)
          #expect(
            await installation.keeps(database, for: running, client, within: Self.longEnough), "\(running.notes)")
          #expect(try await installation.rows("SELECT 1 FROM work WHERE owner IS NOT NULL").isEmpty)
          try await market.control("mend")
          let whole = try await program.run(words)
          #expect(whole.status == 0, "\(whole)")
          #expect(await running.end(SIGTERM) == 0)
        }
      }
    }
    await client.shutdown()
  }

  @Test func `is waited for by a command that comes while it stops`() async throws {
    try await PrivateInstallation.with { installation in
      for _ in 0..<3 {
        let service = try await installation.serve()
        kill(service.id, SIGTERM)
        let outcome = try await installation.program.run("db", "status", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(await service.ended() == 0)
      }
    }
  }

  /// A database that recovers, or another process that stops it, holds up the start: signals are heard all the same.
  @Test(arguments: [SIGTERM, SIGINT], [["serve"], ["dev"]])
  func `is not waited for by a service that is told to stop`(signal: Int32, command: [String]) async throws {
    try await PrivateInstallation.with { installation in
      let home = "\(installation.place.path)/data/database"
      #expect(FileFacts.makeDirectory(home))
      // As a keeper that is stopping the database.
      let users = try UsersFile("\(home)/users")
      try await users.lockOut()
      let words = command + ["--listen", "127.0.0.1:0"]
      let stopped = try await StoppedProgram.run(installation.program, words, signal) { place in
        Program.text("\(place)/notes").contains("waiting for the private database to stop")
      }
      users.leave()
      #expect(stopped.status == 0 && stopped.length < StoppedProgram.longest, "\(stopped)")
      #expect(stopped.notes.contains("stopped before the start was complete"), "\(stopped)")
      #expect(!stopped.notes.contains("still stopping"), "\(stopped)")
    }
  }

  @Test func `is made once by many who come at the same time`() async throws {
    try await PrivateInstallation.with { installation in
      let program = installation.program
      let outcomes = try await withThrowingTaskGroup(of: Program.Outcome.self) { group in
        for _ in 0..<5 { group.addTask { try await program.run("db", "migrate", "--json") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes)")
    }
  }

  @Test func `says why it cannot be started`() async throws {
    try await PrivateInstallation.with { installation in
      let service = try await installation.serve()
      await service.end(SIGTERM)
      // A file where a directory has to be.
      let run = "\(installation.place.path)/data/database/data/ibdata1"
      unsafe unlink(run)
      unsafe mkdir(run, 0o700)
      let outcome = try await installation.program.run("db", "status")
      #expect(outcome.status == 1)
      #expect(outcome.notes.contains("mariadbd did not start"), "\(outcome)")
      #expect(outcome.notes.contains("ibdata1"), "the end of its own log is shown: \(outcome)")
    }
  }
}
