import Adapter
import Database
import HTTPServer
import JSON
import Ledger
import Runtime
import Service
import Signing
import Time

/// A listening service with its database, common to `serve` and `dev`.
struct RunningInstallation {
  let installation: Application
  /// The URL of the service, without a path.
  let url: String
  let metricsURL: String?
  let database: DatabaseConfiguration
  let keys: Keyring
  /// `private`: started by this process; `shared`: the private one, which another process started; `given`: by
  /// --database.
  let kind: String
  private let privateDatabase: EmbeddedDatabase?

  /// Opens the database, prepares its schema, and listens; an error leaves nothing running.
  static func start(
    _ settings: Application.Settings, database: DatabaseOptions,
    migrates: Bool = false, key: MasterKeyOptions, adapter: MessageDecoder, logger: Logger
  ) async throws -> RunningInstallation {
    OpenFileLimit.raise()
    let opened = try await database.open { note in logger.notice("database", metadata: ["note": "\(note)"]) }
    do {
      let connection = try await Connection.open(opened.configuration)
      try await database.prepare(connection, migrates: migrates)
      let keys: Keyring
      do {
        keys = try await key.keys(for: connection) { logger.notice("master key", metadata: ["note": "\($0)"]) }
      } catch {
        await connection.close()
        throw error
      }
      await connection.close()
      let installation = try await Application(
        pool: Pool(opened.configuration), adapter: adapter, keys: keys, settings: settings, clock: .system,
        logger: logger)
      // After a stop during the start, no service may listen.
      try Task.checkCancellation()
      try installation.metricsServer?.start()
      try installation.server.start()
      return RunningInstallation(
        installation: installation, url: url(settings.http, port: installation.server.port),
        metricsURL: installation.metricsServer.flatMap { server in
          settings.metricsListener.map { url($0, port: server.port) + "/metrics" }
        },
        database: opened.configuration, keys: keys,
        kind: await kind(opened.database), privateDatabase: opened.database)
    } catch {
      await opened.database?.close(within: longestStop)
      throw error
    }
  }

  /// The longest wait of the last user for the private database to stop, a part of the services' time.
  fileprivate static let longestStop = Interval.seconds(10)

  private static func kind(_ database: EmbeddedDatabase?) async -> String {
    guard let database else { return "given" }
    return await database.isOurs ? "private" : "shared"
  }

  /// The services, the database first.
  var services: [any Service] {
    (privateDatabase.map { [PrivateDatabaseService(database: $0)] } ?? []) + installation.services
  }

  var greeting: JSONObject {
    var greeting: JSONObject = ["ready": true, "url": .string(url), "database": .string(kind)]
    if let metricsURL { greeting["metrics"] = .string(metricsURL) }
    return greeting
  }

  private static func url(_ listener: HTTPServerConfiguration, port: UInt16) -> String {
    let address = listener.address
    // A listener on every address is reachable at this one.
    let host = address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address
    return "\(listener.tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}

/// The private database as a service: kept running meanwhile, left at the end.
private struct PrivateDatabaseService: Service {
  let database: EmbeddedDatabase

  func run() async throws {
    let result: Result<Void, any Error>
    do { result = .success(try await database.run()) } catch { result = .failure(error) }
    await database.close(within: RunningInstallation.longestStop)
    try result.get()
  }
}
