/// A MariaDB of a test's own that is killed again and again, and the program told to use it; both in the time of a world.
///
/// The server itself lives by the machine's clock, so that what it waits for takes as long as ever. Each session of the
/// program's account is set into the world's time as it begins: evidence needs clocks that agree.
struct WorldDatabase: Sendable {
  let place: TemporaryDirectory
  let time: WorldTime
  let program: Program
  private let server: EmbeddedServer
  private let configuration: DatabaseConfiguration

  /// Starts it; `run` watches it from then on.
  static func start(at date: Timestamp) async throws -> WorldDatabase {
    let place = TemporaryDirectory()
    let time = WorldTime(at: date, in: place)
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = 64 << 20
    // It is killed oftener than a server dies that is of any use.
    (settings.restarts, settings.firstRestartDelay) = (.max, .milliseconds(0))
    settings.options = [
      "--innodb-flush-method=nosync", "--connect-timeout=300",
      "--init-connect=SET timestamp = (SELECT UNIX_TIMESTAMP(SYSDATE(3)) + ahead / 1000 FROM world.time)",
    ]
    let server = EmbeddedServer(directory: "\(place.path)/database", settings: settings)
    let configuration = try await server.start()
    do {
      return try await prepared(server, configuration, time, place)
    } catch {
      await server.stop()
      throw error
    }
  }

  private static func prepared(
    _ server: EmbeddedServer, _ configuration: DatabaseConfiguration, _ time: WorldTime, _ place: TemporaryDirectory
  ) async throws -> WorldDatabase {
    guard case .socket(let socket) = configuration.address else { throw DatabaseError(.misuse, "no socket") }
    let connection = try await Connection.open(configuration)
    let lead = time.lead
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE DATABASE world")
      try session.run("CREATE TABLE world.time (ahead BIGINT NOT NULL)")
      _ = try session.execute("INSERT INTO world.time VALUES (\(lead))")
      // Whoever may administer the server is spared `init_connect`.
      try session.run("CREATE USER service@localhost IDENTIFIED BY 'service'")
      try session.run("GRANT ALL ON switchyard.* TO service@localhost")
      try session.run("GRANT SELECT ON world.* TO service@localhost")
    }
    await connection.close()
    var program = Program(
      options: ["--data-dir", "\(place.path)/data"], environment: time.environment, runsProcesses: true)
    program.environment["SWITCHYARD_DATABASE"] =
      "mysql://service:service@localhost/switchyard?socket=\(socket)&timeout=300"
    return WorldDatabase(place: place, time: time, program: program, server: server, configuration: configuration)
  }

  /// Starts it again when it dies, and ends it when the task is cancelled.
  func run() async throws { try await server.run() }

  /// Lets the world's time go on, for its sessions too.
  func advance(by interval: Interval) async throws {
    time.advance(by: interval)
    let (connection, lead) = (try await Connection.open(configuration), time.lead)
    _ = try await connection.transaction { session throws(DatabaseError) in
      try session.execute("UPDATE world.time SET ahead = \(lead)")
    }
    await connection.close()
  }

  /// Kills it, and returns when it answers again.
  func kill() async throws {
    guard let victim = server.processID else { throw DatabaseError(.misuse, "no server runs") }
    _ = Glibc.kill(victim, SIGKILL)
    let isBack = await eventually {
      guard server.processID != victim, let connection = try? await Connection.open(configuration) else { return false }
      await connection.close()
      return true
    }
    guard isBack else { throw DatabaseError(.misuse, "the server that was killed did not start again") }
  }
}
