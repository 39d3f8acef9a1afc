import Database
import Ledger
import Runtime
import Time

/// Notes which customers Apple is being asked about, and what came of it: many at once in one commit.
///
/// Customers of whom nothing but claims is to be asked, or nothing but ids that nothing proves, are noted by commits of their
/// own: strangers' rows, on which another transaction may wait, hold up nobody else's look-ups.
struct HistoryJobUpdates: Sendable {
  private let claimed: ClassNotes
  private let unverified: ClassNotes
  private let others: ClassNotes

  init(pool: Pool, clock: WallClock, logger: Logger) {
    claimed = ClassNotes(pool: pool, clock: clock, logger: logger)
    unverified = ClassNotes(pool: pool, clock: clock, logger: logger)
    others = ClassNotes(pool: pool, clock: clock, logger: logger)
  }

  /// Whether Apple was not asked about the customer yet; false also when that could not be noted.
  func begin(_ customer: LeasedHistoryJob) async -> Bool { await notes(of: customer).begin(customer) }

  /// Returns once it is committed, or cannot be: then the lease ends by itself, and the customer is asked about again.
  func settle(_ customer: LeasedHistoryJob, _ settlement: HistoryJobTable.Outcome) async {
    await notes(of: customer).settle(customer, settlement)
  }

  private func notes(of customer: LeasedHistoryJob) -> ClassNotes {
    customer.isClaimedAlone ? claimed : customer.isUnverifiedAlone ? unverified : others
  }
}

/// The notes of one class of customers.
private struct ClassNotes: Sendable {
  private struct Settled: Sendable {
    let customer: LeasedHistoryJob
    let settlement: HistoryJobTable.Outcome
  }

  private let beginnings: BatchWriter<LeasedHistoryJob, Bool>
  private let settlements: BatchWriter<Settled, Void>

  init(pool: Pool, clock: WallClock, logger: Logger) {
    beginnings = BatchWriter(unwritten: false) { customers in
      do throws(DatabaseError) {
        return try await pool.transaction(replayable: true) { session throws(DatabaseError) in
          try HistoryJobTable.begin(customers, in: session)
        }
      } catch {
        logger.warning(
          "lookups could not be started; they are made later",
          metadata: ["customers": "\(customers.count)", "error": "\(error)"])
        return []
      }
    }
    settlements = BatchWriter(unwritten: ()) { settled in
      let now = clock.now()
      do throws(DatabaseError) {
        try await pool.transaction(replayable: true) { session throws(DatabaseError) in
          try HistoryJobTable.settle(
            settled.map { (customer: $0.customer, settlement: $0.settlement) }, at: now, in: session)
        }
      } catch {
        logger.warning(
          "lookups could not be stored; they are made again",
          metadata: ["customers": "\(settled.count)", "error": "\(error)"])
      }
      return []
    }
  }

  func begin(_ customer: LeasedHistoryJob) async -> Bool { await beginnings.write(customer) }

  func settle(_ customer: LeasedHistoryJob, _ settlement: HistoryJobTable.Outcome) async {
    await settlements.write(Settled(customer: customer, settlement: settlement))
  }
}
