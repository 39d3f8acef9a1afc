import Database
import Ledger
import Runtime
import Time

/// What must be done now and then: next months' partitions, and figures that only the database can tell.
struct Housekeeping: Service {
  let pool: Pool
  let metrics: ServiceMetrics
  let clock: WallClock
  let logger: Logger

  private static let period = Duration.seconds(30)

  func run() async throws {
    while !Task.isCancelled {
      do {
        let now = clock.now()
        let usage = try await pool.read { session throws(DatabaseError) in
          try BodyPartitions.prepare(for: now, in: session)
          return try QuarantineTable.usage(in: session)
        }
        for source in QuarantineSource.allCases {
          metrics.quarantined[source.rawValue].record(usage[source]?.messages ?? 0)
        }
      } catch {
        if !Task.isCancelled {
          logger.warning("housekeeping failed; it is tried again", metadata: ["error": "\(error)"])
        }
      }
      try? await Task.sleep(for: Self.period)
    }
  }
}
