package import Database
import Glibc
import Synchronization
import Time

/// A MariaDB of a test process: started when the first test asks, removed when the process ends.
///
/// What a killed process leaves behind (its server ends with it) is removed by the next one. With
/// SWITCHYARD_TEST_DATABASE the databases are made on the server of that URL instead, which is left as it is but for
/// them: so `scripts/mysql` runs tests against MySQL.
package actor PrivateMariaDB {
  package static let shared = PrivateMariaDB("")

  /// One without the databases of other tests, whose transactions keep what is gone from being purged.
  package static let quiet = PrivateMariaDB("_quiet")

  private let running = Mutex<EmbeddedServer?>(nil)
  private let directory: String
  private let name: String

  private var starting: Task<DatabaseConfiguration, any Error>?
  private var databases = 0

  private init(_ name: String) { (self.name, directory) = (name, TestPlace.path(name)) }

  /// A new and empty database of its own for each caller.
  ///
  /// Fails with the names of the missing packages where MariaDB is not installed: no test is skipped.
  package func database() async throws -> DatabaseConfiguration {
    let server = try await server()
    databases += 1
    let name = Self.given == nil ? "t\(databases)" : "switchyard_test\(self.name)_\(databases)"
    let connection = try await Connection.open(server)
    try await connection.read { session throws(DatabaseError) in
      try session.run("DROP DATABASE IF EXISTS \(identifier: name)")
      try session.createDatabase(name)
    }
    await connection.close()
    return server.database(name)
  }

  /// The process of the server, to look at; not to kill.
  package nonisolated var processID: Int32? { running.withLock { $0?.processID } }

  /// Returns when the indexes hold nothing any more of rows that are gone: a statement reads that too.
  ///
  /// Of the quiet one alone: elsewhere it would wait for other tests. Of a server that is given, nobody knows.
  package func purge() async throws {
    guard Self.given == nil else { return }
    let connection = try await Connection.open(try await server())
    try await connection.read { session throws(DatabaseError) in
      try session.run("SET GLOBAL innodb_max_purge_lag_wait = 0")
    }
    await connection.close()
  }

  private func server() async throws -> DatabaseConfiguration {
    if let starting { return try await starting.value }
    // No parent could hold this: it outlives the test that asks first, and every test waits for the same start.
    let task = Task { try await start() }
    starting = task
    return try await task.value
  }

  /// Whether the databases are on a server that runs already, which no test may restart.
  package static var isGiven: Bool { given != nil }

  /// The URL of a server that is given instead.
  private static var given: String? { unsafe getenv("SWITCHYARD_TEST_DATABASE").map { unsafe String(cString: $0) } }

  private func start() async throws -> DatabaseConfiguration {
    if let given = Self.given { return Self.patient(try DatabaseURL(given).configuration.database(nil)) }
    TestPlace.removeLeftovers()
    var settings = EmbeddedServer.Settings()
    settings.bufferPool = 64 << 20
    settings.connections = 500
    settings.options =
      Self.options + [
        "--innodb-log-file-size=512M",
        // Hundreds of databases: what the server has forgotten of a table it reads again, as rows of the next statement.
        "--table-definition-cache=20000", "--table-open-cache=20000",
        "--back-log=1000",
      ]
    let server = EmbeddedServer(directory: directory, settings: settings)
    let configuration = try await server.start()
    running.withLock { $0 = server }
    atexit {
      PrivateMariaDB.shared.remove()
      PrivateMariaDB.quiet.remove()
    }
    return Self.patient(configuration.database(nil))
  }

  /// Options of every test server, none of whose tests is about what a disk keeps.
  package static let options = [
    "--innodb-flush-log-at-trx-commit=2", "--skip-innodb-doublewrite", "--innodb-flush-method=nosync",
    // By itself it ends a handshake that takes 10 seconds, on a busy machine.
    "--connect-timeout=300",
    // Nobody makes such statistics here. The server would look for them whenever it opens a table again, which depends
    // on the tests beside, and count that as rows that the statement read.
    "--use-stat-tables=never",
  ]

  /// With time for a machine on which other things run: no test is about how soon this server answers.
  package static func patient(_ configuration: DatabaseConfiguration) -> DatabaseConfiguration {
    var patient = configuration
    (patient.connectTimeout, patient.readTimeout, patient.writeTimeout) = (.minutes(5), .minutes(5), .minutes(5))
    return patient
  }

  private nonisolated func remove() {
    guard let pid = running.withLock({ $0?.processID }) else { return }
    kill(pid, SIGKILL)
    for _ in 0..<500 where kill(pid, 0) == 0 { usleep(2_000) }
    Files.remove(directory)
  }
}
