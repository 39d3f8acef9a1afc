package import Database
import Ledger
package import Runtime
package import Time

/// The clock of this machine is not the database's: a step would be dated wrong, and the guard would look at another time
/// than that of the step.
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
    // The time of the answer does not count.
    let difference = database < before ? database - before : max(database - clock.now(), .milliseconds(0))
    guard abs(difference.milliseconds) > 1_000 else { return }
    throw ClockDiffers(difference: difference)
  }
}
