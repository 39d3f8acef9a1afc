import Runtime
import Synchronization
package import Time

/// One session on its own thread, which makes all blocking C calls.
package actor Connection {
  private let executor = SerialQueueExecutor(label: "switchyard.mariadb")
  private var session: Session?
  package nonisolated let configuration: DatabaseConfiguration
  private let poisoned = Atomic<Bool>(false)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private init(_ configuration: DatabaseConfiguration) { self.configuration = configuration }

  package static func open(_ configuration: DatabaseConfiguration) async throws(DatabaseError) -> Connection {
    let connection = Connection(configuration)
    try await connection.connect()
    return connection
  }

  package nonisolated var isPoisoned: Bool { poisoned.load(ordering: .acquiring) }

  /// The server's number for KILL.
  ///
  /// 0 when closed.
  package var id: UInt64 { session?.connectionID ?? 0 }

  /// Runs the body in one transaction and commits it.
  ///
  /// Any error rolls back and is rethrown. A failed rollback or a lost connection poisons the connection. Throws
  /// `commitOutcomeUnknown` if the connection broke during COMMIT. The body is synchronous: no other call can run
  /// between BEGIN and COMMIT.
  ///
  /// - Parameter lockWait: the lock wait for a row, in whole seconds. `nil`: as in the configuration.
  package func transaction<R: Sendable>(
    lockWait: Interval? = nil, _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withSession { session throws(DatabaseError) in try session.transaction(lockWait: lockWait, body) }
  }

  /// Runs the body on a read-only snapshot of the tables from its beginning.
  package func snapshot<R: Sendable>(
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withSession { session throws(DatabaseError) in try session.transaction(isSnapshot: true, body) }
  }

  /// Runs the body without a transaction: each statement commits separately.
  package func read<R: Sendable>(
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withSession(body)
  }

  /// Runs the body for each item in a separate transaction, all in one visit to the connection's thread.
  ///
  /// Returns one result for each item. After the connection is lost, the rest fails with that error. (Items and one
  /// body, not a list of bodies: Swift 6.3.1 crashes on closures with typed throws inside an array.)
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

  /// Checks whether the server responds, and poisons the connection if it does not.
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
