import Database
import Ledger
import Runtime
import Signing

/// Writes the stages that this process uses to the database, so that an operator sees when a change has reached every
/// process.
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

  /// Writes the mark, or removes the row for `nil`; a failed write is repeated with the next note.
  var note: @Sendable (Int64?) async -> Void {
    { [service, pool, logger, pace] mark in
      do throws(DatabaseError) {
        try await pool.read { session throws(DatabaseError) in
          guard let mark else { return try ProcessTable.remove(service.process, in: session) }
          try ProcessTable.note(service, mark: mark, in: session)
        }
      } catch {
        // A row that was not removed expires on its own.
        guard mark != nil, !Task.isCancelled, let others = pace.turn(of: "note") else { return }
        logger.warning(
          "the stages that this service works by could not be noted",
          metadata: ["error": "\(error)", "failuresSinceLastLine": "\(others + 1)"])
      }
    }
  }
}
