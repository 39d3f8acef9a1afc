import Database
import Time

/// A transaction that is tried again while others hold its rows or change them.
///
/// The server ends a transaction in which nothing happened for 20 seconds, such as that of a frozen service: it is tried for 25
/// seconds. A body that is abandoned is tried again too.
struct PatientTransaction: Sendable {
  let connection: Connection

  func run<R: Sendable>(_ body: @Sendable (Session) throws(DatabaseError) -> R) async throws -> R {
    let start = ContinuousClock.now
    var tries = 0
    while true {
      tries += 1
      let lockWait = tries.isMultiple(of: 3) ? Self.longWait : Self.shortWait
      do {
        return try await connection.transaction(lockWait: lockWait, body)
      } catch {
        guard Self.passing.contains(error.code), ContinuousClock.now - start < Self.patience else { throw error }
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  private static let patience = Duration.seconds(25)
  /// What ends by itself.
  private static let passing: Set<DatabaseError.Code> = [.abandoned, .lockWaitTimeout, .deadlock, .recordChanged]
  /// Notifications of apps whose rows are held already wait for so long, and are taken between two tries.
  ///
  /// Where commits are slow a try has to stand in the queue for longer.
  private static let (shortWait, longWait) = (Interval.seconds(1), Interval.seconds(5))
}
