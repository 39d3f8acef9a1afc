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
  ]

  let dataDirectory: String
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
    if let url, url.configuration.database == nil {
      throw UsageError(
        .invalidValue, "--database names no database: mysql://USER@HOST/NAME", path: arguments.path)
    }
  }

  /// Where the private database is.
  var embeddedDirectory: String { "\(dataDirectory)/database" }

  /// A database that answers, and the private server when it is ours to run and to stop.
  struct Opened {
    let configuration: DatabaseConfiguration
    let server: EmbeddedServer?
  }

  /// Starts the private server, or finds that of another process, or takes the URL's word.
  ///
  /// - Parameter note: hears what takes long: that a database is made, or that another process is waited for.
  func open(
    settings: EmbeddedServer.Settings = EmbeddedServer.Settings(), note: @escaping @Sendable (String) -> Void
  ) async throws -> Opened {
    if let url { return Opened(configuration: url.configuration, server: nil) }
    let server = EmbeddedServer(directory: embeddedDirectory, settings: settings) { event in
      switch event {
      case .moved(let reason): note(reason)
      case .initializing(let directory, _): note("making a private database in \(directory)")
      case .stoppedOrphan(let pid): note("stopped a server left over from a killed process (\(pid))")
      case .started: break
      case .died(let code, _): note("the private database ended with \(code); starting it again")
      }
    }
    do {
      return Opened(configuration: try await server.start(), server: server)
    } catch let error as EmbeddedServerError {
      guard case .inUse = error.code else { throw error }
      return Opened(configuration: try await awaitOther(settings, error), server: nil)
    }
  }

  /// The server that another process runs here, once it answers.
  private func awaitOther(
    _ settings: EmbeddedServer.Settings, _ inUse: EmbeddedServerError
  ) async throws -> DatabaseConfiguration {
    let deadline = ContinuousClock.now + .milliseconds(Self.patience.milliseconds)
    while true {
      if let configuration = try EmbeddedServer.configuration(ofRunningIn: embeddedDirectory, settings: settings) {
        do throws(DatabaseError) {
          await (try Connection.open(configuration)).close()
          return configuration
        } catch {
          guard error.isRetryable || error.code == .unknownDatabase, ContinuousClock.now < deadline else { throw error }
        }
      } else if ContinuousClock.now > deadline {
        throw inUse
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  private static let patience = Interval.seconds(20)
}

extension DatabaseOptions {
  /// Runs `body` on the database; a private server that was started for it is stopped after it.
  func withDatabase<R>(_ terminal: Terminal, _ body: (DatabaseConfiguration) async throws -> R) async throws -> R {
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = 64 << 20
    let opened = try await open(settings: settings) { terminal.note($0) }
    do {
      let result = try await body(opened.configuration)
      await opened.server?.stop()
      return result
    } catch {
      await opened.server?.stop()
      throw error
    }
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
    if isPrivate, status.installed < status.known {
      let patient = try await Connection.open(connection.configuration.forSchemaChanges)
      status = try await patient.read { session throws(DatabaseError) in
        _ = try Migrator().migrate(at: now, in: session)
        return try Migrator().status(in: session)
      }
      await patient.close()
    }
    guard status.isUsable else { throw SchemaError(status: status) }
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
    status.installed < status.known
      ? "the schema is version \(status.installed), this build needs \(status.known): run `switchyard db migrate`"
      : "the schema is version \(status.installed), this build knows \(status.known): use a newer build"
  }
}
