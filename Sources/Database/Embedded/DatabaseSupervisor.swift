/// The supervisor of a private database, in its own process.
///
/// It is the server's parent and restarts it after a crash. It waits until no process holds the users' lock, and then
/// stops the server while new users wait. The kernel releases the locks of killed processes. If the supervisor is
/// killed, the kernel kills the server too, and a user starts both again.
package struct DatabaseSupervisor: Sendable {
  private let directory: String
  private let server: EmbeddedServer
  private let tell: @Sendable (SupervisorReport) -> Void

  /// Creates the supervisor of a directory.
  ///
  /// The closure receives events, the start or its failure first.
  package init(
    directory: String, settings: EmbeddedServer.Settings, tell: @escaping @Sendable (SupervisorReport) -> Void
  ) {
    self.directory = directory
    self.tell = tell
    server = EmbeddedServer(directory: directory, settings: settings, isKeeper: true) { tell(.event($0)) }
  }

  /// Runs the server until no process uses it.
  ///
  /// Throws if it cannot be started, or dies too often in a row.
  package func run() async throws {
    do {
      let users = try UsageLockFile(EmbeddedPaths(directory: directory).users)
      _ = try await server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        group.addTask {
          try await users.lockOut()
          await server.stop()
        }
        // After a fatal error of the server, the wait for its users ends: they detect the failure themselves.
        try await group.waitForAll()
      }
    } catch let error as EmbeddedServerError {
      tell(.failed(error))
      throw error
    }
  }
}
