import Database
import Ledger
import Runtime
import Synchronization

/// Where customers wait to be noted as begun, together: while some are written the next gather, and none waits for company.
///
/// Whoever is first when a batch has been written writes the next one, its own customer among them: nobody's call waits
/// for batches that came later.
final class BeginningLine: Sendable {
  private enum Signal: Sendable {
    case write
    case done(isOurs: Bool)
  }

  private struct Waiting: Sendable {
    let customer: LeasedCustomer
    let signals: AsyncStream<Signal>.Continuation
  }

  private struct State {
    var waiting: [Waiting] = []
    var isWriting = false
  }

  private let pool: Pool
  private let logger: Logger
  private let state = Mutex(State())

  init(pool: Pool, logger: Logger) {
    self.pool = pool
    self.logger = logger
  }

  /// Whether Apple is still to be asked about the customer; false also when that could not be noted.
  ///
  /// Not to be cancelled: others may wait for what this one writes.
  func begin(_ customer: LeasedCustomer) async -> Bool {
    let isOurs = try? await withCancellationShield {
      let (stream, signals) = AsyncStream<Signal>.makeStream()
      let isFirst = self.state.withLock { state in
        state.waiting.append(Waiting(customer: customer, signals: signals))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      if isFirst { signals.yield(.write) }
      for await signal in stream {
        switch signal {
        case .write: await self.write()
        case .done(let isOurs): return isOurs
        }
      }
      return false
    }
    return isOurs ?? false
  }

  private func write() async {
    let batch = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    var areOurs = [Bool](repeating: false, count: batch.count)
    do throws(DatabaseError) {
      areOurs = try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try WorkTable.begin(batch.map(\.customer), in: session)
      }
    } catch {
      logger.warning(
        "look-ups could not be begun; they are made later",
        metadata: ["customers": "\(batch.count)", "error": "\(error)"])
    }
    for (waiting, isOurs) in zip(batch, areOurs) { waiting.signals.yield(.done(isOurs: isOurs)) }
    let next = state.withLock { state in
      if state.waiting.isEmpty { state.isWriting = false }
      return state.waiting.first
    }
    next?.signals.yield(.write)
  }
}
