import Database
import Ledger
import Runtime
import Synchronization
import Time

/// Where settlements wait to be committed together: while some are written the next gather, and none waits for company.
final class SettlingLine: Sendable {
  private struct Waiting: Sendable {
    let customer: LeasedCustomer
    let settlement: WorkTable.Settlement
    let done: AsyncStream<Never>.Continuation
  }

  private struct State {
    var waiting: [Waiting] = []
    var isWriting = false
  }

  private let pool: Pool
  private let clock: WallClock
  private let logger: Logger
  private let state = Mutex(State())

  init(pool: Pool, clock: WallClock, logger: Logger) {
    self.pool = pool
    self.clock = clock
    self.logger = logger
  }

  /// Returns once it is committed, or cannot be: then the lease ends by itself, and the customer is asked about again.
  ///
  /// Not to be cancelled: what Apple told is there, and is not to be asked for again for want of a note.
  func settle(_ customer: LeasedCustomer, _ settlement: WorkTable.Settlement) async {
    try? await withCancellationShield {
      let (stream, done) = AsyncStream<Never>.makeStream()
      let isFirst = self.state.withLock { state in
        state.waiting.append(Waiting(customer: customer, settlement: settlement, done: done))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      if isFirst { await self.write() }
      for await _ in stream {}
    }
  }

  /// Writes until nobody waits.
  private func write() async {
    while true {
      let batch = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.isWriting = false }
        return state.waiting
      }
      if batch.isEmpty { return }
      let (settlements, now) = (batch.map { (customer: $0.customer, settlement: $0.settlement) }, clock.now())
      do throws(DatabaseError) {
        try await pool.transaction(replayable: true) { session throws(DatabaseError) in
          try WorkTable.settle(settlements, at: now, in: session)
        }
      } catch {
        logger.warning(
          "look-ups could not be noted; they are made again",
          metadata: ["customers": "\(batch.count)", "error": "\(error)"])
      }
      for waiting in batch { waiting.done.finish() }
    }
  }
}
