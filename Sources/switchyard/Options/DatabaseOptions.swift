import Database
import Ledger
import Runtime
import Time

/// The database of a command: the one of a URL, otherwise the private one in the data directory.
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
  /// The private database's buffer pool, if this process starts it.
  let memory: ByteSize
  private let asksForMemory: Bool
  /// `nil` means the private database.
  let url: DatabaseURL?

  init(_ arguments: ParsedArguments) throws {
    let directory = try arguments.required("data-dir")
    dataDirectory = directory.hasSuffix("/") && directory.count > 1 ? String(directory.dropLast()) : directory
    do throws(DatabaseURLError) {
      url = try arguments.value("database").map { text throws(DatabaseURLError) in try DatabaseURL(text) }
    } catch {
      throw UsageError(.invalidValue, "--database: \(error)", path: arguments.path)
    }
    // A size applies only to the private database, so a wrong variable must not block another one.
    memory = url == nil ? try DatabaseMemory.size(arguments) : DatabaseMemory.least
    asksForMemory = arguments.value(DatabaseMemory.option.name) != nil
    if let url, url.configuration.database == nil {
      throw UsageError(
        .invalidValue, "--database names no database: mysql://USER@HOST/NAME", path: arguments.path)
    }
  }

  /// The file that pauses bulk migrations in all processes of this data directory.
  var migrationFlag: String { "\(dataDirectory)/migrate.pause" }

  var raisedMigrationFlag: String? { FileMetadata(migrationFlag) == nil ? nil : FileMetadata.absolute(migrationFlag) }

  var embeddedDirectory: String { "\(dataDirectory)/database" }

  var serverSettings: EmbeddedServer.Settings {
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = memory.bytes
    // A redo log of 2 GiB may have to be read after a crash; killed before its end, a recovery starts over.
    settings.startLimit = .minutes(30)
    return settings
  }

  /// An open database, and this process's use of it if it is private.
  struct Opened {
    let configuration: DatabaseConfiguration
    let database: EmbeddedDatabase?
  }

  /// Joins the private database, starting it if necessary, or uses the URL.
  ///
  /// - Parameter note: receives slow steps: the creation of a database, or a wait for another process.
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

  /// Returns the size of a running server's buffer pool; `nil` without a response, which other code reports.
  private static func bufferPool(_ configuration: DatabaseConfiguration) async -> ByteSize? {
    guard let connection = try? await Connection.open(configuration.database(nil)) else { return nil }
    let size = try? await connection.read { session throws(DatabaseError) in
      try session.query("SELECT @@innodb_buffer_pool_size AS size").first?.int("size")
    }
    await connection.close()
    return size.flatMap { $0 }.map { ByteSize($0) }
  }

  private var keeper: SupervisorProgram {
    SupervisorProgram(
      path: ProcessEnvironment.program,
      arguments: [
        "db", "keep", "--data-dir", FileMetadata.absolute(dataDirectory), "--database-memory", "\(memory.bytes)",
      ],
      // Settings of SWITCHYARD_ variables are passed as arguments.
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
  private static let longestStop = Interval.seconds(30)

  /// Runs `body` on the database, with this process as a user of a private one.
  func withDatabase<R>(_ terminal: Terminal, _ body: (DatabaseConfiguration) async throws -> R) async throws -> R {
    let opened = try await open { terminal.note($0) }
    guard let database = opened.database else { return try await body(opened.configuration) }
    let result: Result<R, any Error>
    do {
      // Ends with this scope; a failed database shows in the errors of `body`.
      async let _ = try? database.run()
      do { result = .success(try await body(opened.configuration)) } catch { result = .failure(error) }
    }
    // Do not delay the operator's stop: the keeper continues to stop the database.
    if CommandShutdown.signal == nil { await database.close(within: Self.longestStop) }
    return try result.get()
  }

  /// Runs `body` on one connection to a database with a supported schema.
  ///
  /// The private database is migrated first; a shared one requires `db migrate`. Only writing commands create a missing
  /// private database, because an empty list from the wrong directory would mislead.
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

  /// Throws for an unsupported schema; creates the private database's, or another's if `migrates`.
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

struct NoDatabase: ExitStatusError, CustomStringConvertible {
  let directory: String

  var exitStatus: ExitStatus { .failed }

  var description: String {
    "there is no database in \(directory); say --data-dir or --database, or make one with `switchyard serve`"
  }
}

/// The database is not at this build's version.
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
