import Runtime
import Synchronization
package import Time

/// One session on a thread of its own; everything that blocks in C happens there.
package actor Connection {
  private let executor = SerialQueueExecutor(label: "switchyard.mariadb")
  private var session: Session?
  /// Where it is connected to, and how.
  package nonisolated let configuration: DatabaseConfiguration
  private let poisoned = Atomic<Bool>(false)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private init(_ configuration: DatabaseConfiguration) { self.configuration = configuration }

  /// A connection that is connected.
  package static func open(_ configuration: DatabaseConfiguration) async throws(DatabaseError) -> Connection {
    let connection = Connection(configuration)
    try await connection.connect()
    return connection
  }

  /// Whether it is of no further use: broken, rolled back without success, or closed.
  package nonisolated var isPoisoned: Bool { poisoned.load(ordering: .acquiring) }

  /// The server's number for it, as KILL takes it; 0 when closed.
  package var id: UInt64 { session?.connectionID ?? 0 }

  /// Runs the body in one transaction and commits it; any error rolls back and is thrown on.
  ///
  /// A rollback that fails, or a connection lost, poisons the connection. `commitOutcomeUnknown` when the connection
  /// broke during COMMIT. The body is synchronous: nothing can slip between BEGIN and COMMIT.
  ///
  /// - Parameter lockWait: how long it waits for a row's lock, in whole seconds; nil: as long as the configuration says.
  package func transaction<R: Sendable>(
    lockWait: Interval? = nil, _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withSession { session throws(DatabaseError) in try session.transaction(lockWait: lockWait, body) }
  }

  /// Runs the body with the tables as they are at its beginning, whatever is committed meanwhile; it may change nothing.
  package func snapshot<R: Sendable>(
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withSession { session throws(DatabaseError) in try session.transaction(isSnapshot: true, body) }
  }

  /// Runs the body without a transaction: each statement commits by itself.
  package func read<R: Sendable>(
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withSession(body)
  }

  /// Runs the body for each item in a transaction of its own, all in one visit to the connection's thread.
  ///
  /// One outcome for each item; after the connection is lost the rest fails with that error. (Items and one body, not
  /// a list of bodies: Swift 6.3.1 crashes on closures with typed throws inside an array.)
  package func transactions<Item: Sendable, R: Sendable>(
    _ items: [Item], _ body: @Sendable (Session, Item) throws(DatabaseError) -> R
  ) -> [Result<R, DatabaseError>] {
    items.map { item in
      do throws(DatabaseError) {
        return .success(try transaction { session throws(DatabaseError) in try body(session, item) })
      } catch {
        return .failure(error)
      }
    }
  }

  /// Whether the server still answers; poisons the connection if it does not.
  package func ping() throws(DatabaseError) {
    try withSession { session throws(DatabaseError) in try session.ping() }
  }

  package func close() {
    poisoned.store(true, ordering: .releasing)
    session = nil
  }

  private func connect() throws(DatabaseError) { session = try Session(configuration) }

  private func withSession<R>(
    _ body: (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    guard let session, !isPoisoned else { throw DatabaseError(.connectionLost, "the connection is closed or broken") }
    defer { if session.isBroken { poisoned.store(true, ordering: .releasing) } }
    return try body(session)
  }
}
