/// A data directory with a private database of its own, and the processes of the program that share it.
struct PrivateInstallation: Sendable {
  let place: TemporaryDirectory
  let program: Program

  private init(suffix: String) {
    place = TemporaryDirectory(suffix: suffix)
    program = Program(options: ["--data-dir", "\(place.path)/data"], runsProcesses: true)
  }

  /// Runs `body` with an empty data directory; afterwards nothing may run there, and what does is ended.
  ///
  /// - Parameter suffix: added to the directory's name, for a path that is too long for a socket.
  static func with(suffix: String = "", _ body: (PrivateInstallation) async throws -> Void) async throws {
    let installation = PrivateInstallation(suffix: suffix)
    let result: Result<Void, any Error>
    do { result = .success(try await body(installation)) } catch { result = .failure(error) }
    if case .failure(let error) = result {
      for process in installation.processes { kill(process.id, SIGKILL) }
      throw error
    }
    // On a busy disk a database takes the half minute that its keeper gives it before it is killed.
    let hasEnded = await eventually(within: .seconds(90)) { installation.processes.isEmpty }
    #expect(hasEnded, "still running: \(installation.processes.map(\.line))")
    for process in installation.processes { kill(process.id, SIGKILL) }
    _ = await eventually(within: .seconds(90)) { installation.processes.isEmpty }
  }

  /// A process and its command line.
  struct Process: Sendable {
    let id: pid_t
    let words: [String]

    var line: String { "\(id): \(words.joined(separator: " "))" }
    var name: String { words.first.map { String($0.split(separator: "/").last ?? "") } ?? "" }
  }

  /// Everything that runs on this data directory now: services, commands, the database and what keeps it.
  var processes: [Process] {
    Files.names(in: "/proc").compactMap { pid_t($0) }.compactMap { id in
      let line = Files.contents(of: "/proc/\(id)/cmdline", limit: 32 << 10) ?? []
      let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return words.contains { $0.contains("\(place.path)/data") } ? Process(id: id, words: words) : nil
    }
  }

  /// The database servers that run on this data directory.
  var databases: [pid_t] { processes.filter { ["mariadbd", "mysqld"].contains($0.name) }.map(\.id) }

  /// The processes that keep the database.
  var keepers: [pid_t] { processes.filter { $0.words.dropFirst().prefix(2) == ["db", "keep"] }.map(\.id) }

  /// Waits until one server runs that is not of `databases`; false if none comes.
  func replaces(_ databases: [pid_t]) async -> Bool {
    await eventually(within: .seconds(90)) {
      let now = self.databases
      return now.count == 1 && !databases.contains(now[0])
    }
  }

  /// Whether `service` goes on with the same database, for as long as `limit` and afterwards.
  ///
  /// Looks at the processes, not at each answer: on a busy machine a database that runs can take seconds to answer.
  func keeps(
    _ database: [pid_t], for service: RunningProgram, _ client: HTTPClient, within limit: Interval
  ) async -> Bool {
    let isInterrupted = await eventually(within: limit) { databases != database }
    let isReady = await service.becomesReady(client)
    return !isInterrupted && isReady
  }

  func serve(_ arguments: [String] = []) async throws -> RunningProgram {
    try await RunningProgram.serve(program, arguments)
  }

  /// Runs SQL on the database that other processes use now.
  func rows(_ sql: SQL) async throws -> [Row] {
    try await with { session throws(DatabaseError) in try session.query(sql) }
  }

  /// Changes the database that other processes use now.
  func execute(_ sql: SQL) async throws {
    try await with { session throws(DatabaseError) in _ = try session.execute(sql) }
  }

  private func with<R: Sendable>(_ body: @Sendable (Session) throws(DatabaseError) -> R) async throws -> R {
    let directory = "\(place.path)/data/database"
    let configuration = try #require(try EmbeddedServer.configuration(ofRunningIn: directory))
    let connection = try await Connection.open(configuration)
    let result = try await connection.read(body)
    await connection.close()
    return result
  }
}

extension RunningProgram {
  /// Whether it says that requests are welcome.
  func isReady(_ client: HTTPClient) async -> Bool {
    let answer = try? await client.send(ClientRequest(url: "\(url)/readyz", deadline: .seconds(5)))
    return answer?.status == 200
  }

  /// Waits until requests are welcome.
  func becomesReady(_ client: HTTPClient, within limit: Interval = .seconds(30)) async -> Bool {
    await eventually(within: limit) { await isReady(client) }
  }
}
