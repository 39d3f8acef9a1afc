import Database
import Ledger
import Runtime
import Signing

/// Says in the database by which stages this process works: so an operator knows when a change has reached every process.
struct ProcessHeartbeat {
  private let service: ProcessTable.Service
  private let pool: Pool
  private let logger: Logger
  private let pace = LogRateLimiter()

  /// - Parameter name: host and process id.
  init(name: String?, pool: Pool, logger: Logger) {
    service = ProcessTable.Service(process: .random(count: 16), name: name)
    (self.pool, self.logger) = (pool, logger)
  }

  /// Writes the mark, or removes the row at nil; a row that could not be written is written with the next note.
  var note: @Sendable (Int64?) async -> Void {
    { [service, pool, logger, pace] mark in
      do throws(DatabaseError) {
        try await pool.read { session throws(DatabaseError) in
          guard let mark else { return try ProcessTable.remove(service.process, in: session) }
          try ProcessTable.note(service, mark: mark, in: session)
        }
      } catch {
        // A row that was not removed stops counting by itself.
        guard mark != nil, !Task.isCancelled, let others = pace.turn(of: "note") else { return }
        logger.warning(
          "the stages that this service works by could not be noted",
          metadata: ["error": "\(error)", "failuresSinceLastLine": "\(others + 1)"])
      }
    }
  }
}
