package import Database
import Runtime
import Synchronization

/// Commits together what arrives together, and answers each for itself.
///
/// A commit costs a flush of the disk whatever it holds: alone a notification takes ten times what it takes among 32.
/// While one batch is being committed the next gathers, so that nothing ever waits for company.
package final class GroupCommit: Sendable {
  package struct Limits: Sendable {
    /// Entries committed together at most.
    package var batch = 64
    /// Entries waiting at most; beyond that the answer is "try again later".
    package var waiting = 4_096
    /// Batches under way at once.
    package var lanes = 2

    package init() {}
  }

  /// Why an entry was not written.
  package enum Failure: Error, Equatable, Sendable {
    case overloaded
    case stopping
    case database(DatabaseError)
  }

  private typealias Answer = Result<Appended, Failure>

  private struct Waiting: Sendable {
    let entry: Entry
    let answer: @Sendable (Answer) -> Void
  }

  private struct State {
    var waiting: [Waiting] = []
    var idleLanes: [CheckedContinuation<Void, Never>] = []
    var isStopping = false
  }

  private let state = Mutex(State())
  private let limits: Limits
  private let write: @Sendable ([Entry]) async throws(DatabaseError) -> [Appended]

  package convenience init(_ ledger: Ledger, limits: Limits = Limits()) {
    self.init(limits: limits) { entries throws(DatabaseError) in try await ledger.append(entries) }
  }

  /// For tests: anything that writes a batch.
  package init(
    limits: Limits = Limits(), write: @escaping @Sendable ([Entry]) async throws(DatabaseError) -> [Appended]
  ) {
    self.limits = limits
    self.write = write
  }

  /// Entries that wait for their commit.
  package var depth: Int { state.withLock { $0.waiting.count } }

  /// What became of the entry, once it is committed.
  package func append(_ entry: Entry) async throws(Failure) -> Appended {
    let answer = await withCheckedContinuation { continuation in
      enqueue(Waiting(entry: entry) { continuation.resume(returning: $0) })
    }
    return try answer.get()
  }

  private func enqueue(_ waiting: Waiting) {
    let (refusal, lane) = state.withLock { state -> (Failure?, CheckedContinuation<Void, Never>?) in
      if state.isStopping { return (.stopping, nil) }
      if state.waiting.count >= limits.waiting { return (.overloaded, nil) }
      state.waiting.append(waiting)
      return (nil, state.idleLanes.popLast())
    }
    if let refusal { waiting.answer(.failure(refusal)) }
    lane?.resume()
  }

  /// Commits until cancelled; then takes nothing more, commits what still waits, and ends.
  package func run() async {
    await withTaskCancellationHandler {
      // Out of the reach of cancellation: what was accepted is to be written, not abandoned in the middle.
      try? await withCancellationShield {
        await withDiscardingTaskGroup { group in
          for _ in 0..<self.limits.lanes { group.addTask { await self.runLane() } }
        }
      }
    } onCancel: {
      stop()
    }
  }

  private func stop() {
    let idle = state.withLock { state in
      state.isStopping = true
      defer { state.idleLanes = [] }
      return state.idleLanes
    }
    for lane in idle { lane.resume() }
  }

  private func runLane() async {
    while true {
      let batch = state.withLock { state in
        let batch = Array(state.waiting.prefix(limits.batch))
        state.waiting.removeFirst(batch.count)
        return batch
      }
      if !batch.isEmpty {
        await commit(batch)
      } else if await !waitForWork() {
        return
      }
    }
  }

  /// False when there will be no more.
  private func waitForWork() async -> Bool {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isReady = state.withLock { state in
        if state.isStopping || !state.waiting.isEmpty { return true }
        state.idleLanes.append(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
    return state.withLock { !$0.isStopping || !$0.waiting.isEmpty }
  }

  private func commit(_ batch: [Waiting]) async {
    do throws(DatabaseError) {
      let appended = try await write(batch.map(\.entry))
      for (waiting, appended) in zip(batch, appended) { waiting.answer(.success(appended)) }
    } catch  where batch.count > 1 && !error.isRetryable {
      // One row may have spoiled it for all: each alone, so that only the guilty one fails.
      for waiting in batch { await commit([waiting]) }
    } catch {
      for waiting in batch { waiting.answer(.failure(.database(error))) }
    }
  }
}
