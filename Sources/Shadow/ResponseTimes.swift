import Answering
package import Database
package import Ledger
package import Runtime
import Synchronization
package import Time

/// Counts how long Apple and we take to answer verifyReceipt, and adds the counts to the ledger every few seconds.
package final class ResponseTimes: Service {
  private let pool: Pool
  private let every: Duration
  private let stageSetAt: @Sendable (AppScope) -> Timestamp?
  private let clock: WallClock
  private let logger: Logger
  private let pace = LogRateLimiter()
  /// What is not in the ledger yet: a few numbers for each app, however many calls there are.
  private let calls = Mutex<[AnswerTimeTable.Key: Int]>([:])

  /// - Parameters:
  ///   - every: how often the counts are written.
  ///   - stageSetAt: when an app's stage was set, as far as this process knows.
  package init(
    pool: Pool, every: Duration, stageSetAt: @escaping @Sendable (AppScope) -> Timestamp?, clock: WallClock,
    logger: Logger
  ) {
    self.pool = pool
    self.every = every
    self.stageSetAt = stageSetAt
    self.clock = clock
    self.logger = logger
  }

  /// Counts a call; returns at once.
  ///
  /// - Parameter time: how long the answer took; nil for a call that got none.
  package func note(_ side: ResponseTimeStatistics.Side, in scope: AppScope, took time: Duration?) {
    let key = AnswerTimeTable.Key(side, in: scope, took: time, at: clock.now(), stageSetAt: stageSetAt(scope))
    calls.withLock { $0[key, default: 0] += 1 }
  }

  package func run() async throws {
    while !Task.isCancelled {
      try? await Task.sleep(for: every)
      if !Task.isCancelled { await write() }
    }
    // A database that does not answer must not hold up the stop of the process.
    await withTimeout(within: .seconds(2), otherwise: ()) { await self.write() }
  }

  /// What cannot be written is written with the next.
  private func write() async {
    let taken = calls.withLock { calls in
      defer { calls = [:] }
      return calls
    }
    guard !taken.isEmpty else { return }
    do throws(DatabaseError) {
      try await pool.transaction { session throws(DatabaseError) in try AnswerTimeTable.add(taken, in: session) }
    } catch {
      // What may be there already is not added twice.
      if error.code != .commitOutcomeUnknown { calls.withLock { $0.merge(taken, uniquingKeysWith: +) } }
      guard let others = pace.turn(of: "write") else { return }
      logger.warning(
        "answer times were not stored", metadata: ["error": "\(error)", "sinceLastLine": "\(others + 1)"])
    }
  }
}
