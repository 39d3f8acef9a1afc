package import Database
import Ledger
package import Runtime
package import Time

/// An error: this machine's clock differs from the database's.
///
/// A step would get a wrong date, and the guard would use another period.
package struct ClockDiffers: ExitStatusError, CustomStringConvertible {
  private let difference: Interval

  package var exitStatus: ExitStatus { .refused }
  package var description: String {
    "This machine's clock differs from the database's by \(abs(difference.milliseconds)) ms: synchronize both, and try again."
  }

  /// Throws `ClockDiffers` if the clocks are more than a second apart.
  package static func check(_ clock: WallClock, on connection: Connection) async throws {
    let before = clock.now()
    let database = try await connection.read { session throws(DatabaseError) in
      try DatabaseStatistics(from: session).now
    }
    // The duration of the query does not count.
    let difference = database < before ? database - before : max(database - clock.now(), .milliseconds(0))
    guard abs(difference.milliseconds) > 1_000 else { return }
    throw ClockDiffers(difference: difference)
  }
}
