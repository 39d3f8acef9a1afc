/// Keeps a private database running for as long as any process uses it, in a process of its own.
///
/// It is the server's parent. It starts the server again when it dies, waits until nobody holds the users' lock, and
/// then stops the server while newcomers wait. The kernel releases the locks of processes that are killed, so that the
/// server ends with its last user however that one ends. If the keeper itself is killed, the kernel kills the server
/// with it, and a user that is left, or the next one, starts both again.
package struct DatabaseSupervisor: Sendable {
  private let directory: String
  private let server: EmbeddedServer
  private let tell: @Sendable (SupervisorReport) -> Void

  /// - Parameter tell: hears what happens, the start or its failure first.
  package init(
    directory: String, settings: EmbeddedServer.Settings, tell: @escaping @Sendable (SupervisorReport) -> Void
  ) {
    self.directory = directory
    self.tell = tell
    server = EmbeddedServer(directory: directory, settings: settings, isKeeper: true) { tell(.event($0)) }
  }

  /// Runs the server until nobody uses it; throws when it cannot be started, or dies too often in a row.
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
        // A server that is given up ends the wait for its users: they find out by themselves.
        try await group.waitForAll()
      }
    } catch let error as EmbeddedServerError {
      tell(.failed(error))
      throw error
    }
  }
}
