import Database
import Ledger
import Runtime
import Time

/// Which database a command works on: the one of a URL, else the private one in the data directory.
struct DatabaseOptions: Sendable {
  static let options: [Option] = [
    .value(
      "database", "URL", environment: "SWITCHYARD_DATABASE",
      "mysql://USER:PASSWORD@HOST/NAME; with a password use the variable. Without it: the private one in --data-dir."),
    .value(
      "data-dir", "DIRECTORY", default: ".switchyard", environment: "SWITCHYARD_DATA_DIR",
      "Where the private database and the master key are."),
    DatabaseMemory.option,
  ]

  let dataDirectory: String
  /// Of the private database's buffer pool, when this process starts it.
  let memory: ByteSize
  /// Whether somebody asked for that size.
  private let asksForMemory: Bool
  /// Nil: the private database.
  let url: DatabaseURL?

  init(_ arguments: ParsedArguments) throws {
    let directory = try arguments.required("data-dir")
    dataDirectory = directory.hasSuffix("/") && directory.count > 1 ? String(directory.dropLast()) : directory
    do throws(DatabaseURLError) {
      url = try arguments.value("database").map { text throws(DatabaseURLError) in try DatabaseURL(text) }
    } catch {
      throw UsageError(.invalidValue, "--database: \(error)", path: arguments.path)
    }
    // A size is of the private database alone; another one is not kept from working by a variable that is wrong.
    memory = url == nil ? try DatabaseMemory.size(arguments) : DatabaseMemory.least
    asksForMemory = arguments.value(DatabaseMemory.option.name) != nil
    if let url, url.configuration.database == nil {
      throw UsageError(
        .invalidValue, "--database names no database: mysql://USER@HOST/NAME", path: arguments.path)
    }
  }

  /// While this file is there, no process of this data directory goes on with a bulk migration.
  var migrationFlag: String { "\(dataDirectory)/migrate.pause" }

  /// That file as a path from the root on, if it is there.
  var raisedMigrationFlag: String? { FileMetadata(migrationFlag) == nil ? nil : FileMetadata.absolute(migrationFlag) }

  /// Where the private database is.
  var embeddedDirectory: String { "\(dataDirectory)/database" }

  /// How the private server is run.
  var serverSettings: EmbeddedServer.Settings {
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = memory.bytes
    // A redo log of 2 GiB may have to be read after a crash; killed before its end, a recovery begins anew.
    settings.startLimit = .minutes(30)
    return settings
  }

  /// A database that answers, and our use of it when it is the private one.
  struct Opened {
    let configuration: DatabaseConfiguration
    let database: EmbeddedDatabase?
  }

  /// Joins the users of the private database, which is started if need be, or takes the URL's word.
  ///
  /// - Parameter note: hears what takes long: that a database is made, or that another process is waited for.
  func open(note: @escaping @Sendable (String) -> Void) async throws -> Opened {
    if let url { return Opened(configuration: url.configuration, database: nil) }
    let opened = try await EmbeddedDatabase.open(
      directory: embeddedDirectory, settings: serverSettings, keeper: keeper
    ) { event in
      if let text = Self.text(event) { note(text) }
    }
    if asksForMemory, await !opened.database.isOurs, let size = await Self.bufferPool(opened.configuration),
      size < memory
    {
      note(
        "the private database already runs with a buffer pool of \(size); --database-memory \(memory.exact) takes effect "
          + "when all processes that use it have stopped")
    }
    return Opened(configuration: opened.configuration, database: opened.database)
  }

  /// The size of a running server's buffer pool; nil if it does not answer, which others report.
  private static func bufferPool(_ configuration: DatabaseConfiguration) async -> ByteSize? {
    guard let connection = try? await Connection.open(configuration.database(nil)) else { return nil }
    let size = try? await connection.read { session throws(DatabaseError) in
      try session.query("SELECT @@innodb_buffer_pool_size AS size").first?.int("size")
    }
    await connection.close()
    return size.flatMap { $0 }.map { ByteSize($0) }
  }

  /// This program once more, as the process that keeps the database.
  private var keeper: SupervisorProgram {
    SupervisorProgram(
      path: ProcessEnvironment.program,
      arguments: [
        "db", "keep", "--data-dir", FileMetadata.absolute(dataDirectory), "--database-memory", "\(memory.bytes)",
      ],
      // What this process was told by its environment is said in so many words, and nothing else is the keeper's to know.
      environment: ProcessEnvironment.inherited(without: "SWITCHYARD_"))
  }

  private static func text(_ event: EmbeddedDatabase.Event) -> String? {
    switch event {
    case .server(.moved(let reason)): reason
    case .server(.initializing(let directory, _)): "making a private database in \(directory)"
    case .server(.stoppedOrphan(let pid)): "stopped a server left over from a killed process (\(pid))"
    case .server(.started): nil
    case .server(.died(let code, _)): "the private database ended with \(code); starting it again"
    case .waitingForStart(let log): "waiting for the private database to start; \(log) says how far it is"
    case .waitingForStop: "waiting for the private database to stop; it will then be started again"
    case .keeperLost: "the process that keeps the private database was killed; starting both again"
    case .tooManyFiles:
      "no file descriptor is left to look after the private database; trying again every second. Raise the limit of open files (ulimit -n)"
    case .leftStopping: "the private database is still stopping"
    }
  }
}

extension DatabaseOptions {
  /// How long the last user waits for the private database to stop.
  private static let longestStop = Interval.seconds(30)

  /// Runs `body` on the database; of a private one this process is a user meanwhile.
  func withDatabase<R>(_ terminal: Terminal, _ body: (DatabaseConfiguration) async throws -> R) async throws -> R {
    let opened = try await open { terminal.note($0) }
    guard let database = opened.database else { return try await body(opened.configuration) }
    let result: Result<R, any Error>
    do {
      // Ends with this scope: what was given up then shows in what fails.
      async let _ = try? database.run()
      do { result = .success(try await body(opened.configuration)) } catch { result = .failure(error) }
    }
    // Whoever stops the command is not kept waiting: the keeper goes on stopping the database.
    if CommandShutdown.signal == nil { await database.close(within: Self.longestStop) }
    return try result.get()
  }

  /// Runs `body` on one connection to a database with a schema this build can work on.
  ///
  /// The private database is brought up to date first; one that others share is left to `db migrate`. Where there is
  /// no private database yet, only what writes makes one: an empty list out of the wrong directory would be a lie.
  func withLedger<R>(
    _ terminal: Terminal, makesDatabase: Bool = false, _ body: (Connection) async throws -> R
  ) async throws -> R {
    if url == nil, !makesDatabase, !EmbeddedServer.hasData(in: embeddedDirectory) {
      throw NoDatabase(directory: dataDirectory)
    }
    return try await withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await prepare(connection)
      let result = try await body(connection)
      await connection.close()
      return result
    }
  }

  /// Refuses a schema this build cannot work on; the private database's is made, another's when `migrates`.
  func prepare(_ connection: Connection, migrates: Bool = false) async throws {
    let isPrivate = url == nil || migrates
    let now = WallClock.system.now()
    var status = try await connection.read { session throws(DatabaseError) in try Migrator().status(in: session) }
    if isPrivate, status.isOlder {
      let patient = try await Connection.open(connection.configuration.forSchemaChanges)
      status = try await patient.read { session throws(DatabaseError) in
        _ = try Migrator().migrate(at: now, in: session)
        return try Migrator().status(in: session)
      }
      await patient.close()
    }
    guard status.isCurrent else { throw SchemaError(status: status) }
  }
}

/// There is no private database where one was looked for.
struct NoDatabase: ExitStatusError, CustomStringConvertible {
  let directory: String

  var exitStatus: ExitStatus { .failed }

  var description: String {
    "there is no database in \(directory); say --data-dir or --database, or make one with `switchyard serve`"
  }
}

/// The database is not at the version that this build works on.
struct SchemaError: ExitStatusError, CustomStringConvertible {
  let status: Migrator.Status

  var exitStatus: ExitStatus { .failed }

  var description: String {
    status.isOlder
      ? "the schema is version \(status.installed), this build needs \(status.known): run `switchyard db migrate`"
      : "another build made this database (schema \(status.installed), this build knows \(status.known)): use that build, or "
        + "begin with an empty database"
  }
}
