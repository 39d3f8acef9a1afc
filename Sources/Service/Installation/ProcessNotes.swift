import Database
import Ledger
import Signing
import Time

/// Says in the database by which stages this process works: so an operator knows when a change has reached every process.
struct ProcessNotes {
  private let process = [UInt8].random(count: 16)
  private let pool: Pool
  private let clock: WallClock

  init(pool: Pool, clock: WallClock) { (self.pool, self.clock) = (pool, clock) }

  /// What cannot be noted is noted with the next.
  var note: @Sendable (Int64?) async -> Void {
    { [process, pool, clock] mark in
      let now = clock.now()
      _ = try? await pool.read { session throws(DatabaseError) in
        guard let mark else { return try ProcessTable.remove(process, in: session) }
        try ProcessTable.note(process, mark: mark, at: now, in: session)
        try ProcessTable.purge(before: now - .hours(1), in: session)
      }
    }
  }
}
