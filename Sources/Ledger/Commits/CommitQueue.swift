import Database
import Runtime
import Synchronization
import Time

/// The entries of one class that wait for their commit.
///
/// A commit costs a disk flush: a single notification takes ten times as long as one of 32. While one batch is
/// committed, the next gathers. Another starts in parallel only if one is late because of a lock.
final class CommitQueue: Sendable {
  private typealias Answer = Result<AppendResult, GroupCommit.Failure>

  private struct Waiting: Sendable {
    let number: UInt64
    let entry: LedgerEntry
    let answer: @Sendable (Answer) -> Void
  }

  private struct State {
    var waiting: [Waiting] = []
    var bytes = 0
    var idleLanes: [CheckedContinuation<Void, Never>] = []
    var (underWay, late) = (0, 0)
    var isStopping = false

    func mayBegin(_ limits: GroupCommit.Limits) -> Bool {
      underWay - late < limits.lanes && underWay < limits.lanes + limits.spareLanes
    }
  }

  private let state = Mutex(State())
  private let numbers = Atomic<UInt64>(0)
  private let limits: GroupCommit.Limits
  private let write: @Sendable ([LedgerEntry]) async throws(DatabaseError) -> [AppendResult]
  private let announce: @Sendable (GroupCommit.News) -> Void

  init(
    limits: GroupCommit.Limits,
    write: @escaping @Sendable ([LedgerEntry]) async throws(DatabaseError) -> [AppendResult],
    announce: @escaping @Sendable (GroupCommit.News) -> Void
  ) {
    self.limits = limits
    self.write = write
    self.announce = announce
  }

  var depth: Int { state.withLock { $0.waiting.count } }

  var bytes: Int { state.withLock { $0.bytes } }

  func append(_ entry: LedgerEntry) async throws(GroupCommit.Failure) -> AppendResult {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        enqueue(Waiting(number: number, entry: entry) { continuation.resume(returning: $0) })
        // The entry may have been cancelled before it was added.
        if Task.isCancelled { forget(number) }
      }
    } onCancel: {
      forget(number)
    }
    return try answer.get()
  }

  private func forget(_ number: UInt64) {
    let forgotten: Waiting? = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiting.remove(at: index)
    }
    if let forgotten { settle(forgotten, .failure(.overloaded)) }
  }

  private func enqueue(_ waiting: Waiting) {
    let (refusal, lane) = state.withLock { state -> (GroupCommit.Failure?, CheckedContinuation<Void, Never>?) in
      if state.isStopping { return (.stopping, nil) }
      guard state.waiting.count < limits.waiting, state.bytes + waiting.entry.size <= limits.waitingBytes else {
        return (.overloaded, nil)
      }
      state.waiting.append(waiting)
      state.bytes += waiting.entry.size
      return (nil, state.mayBegin(limits) ? state.idleLanes.popLast() : nil)
    }
    if let refusal { waiting.answer(.failure(refusal)) }
    lane?.resume()
  }

  func run() async {
    await withTaskCancellationHandler {
      // Shielded from cancellation: accepted entries must be written.
      try? await withCancellationShield {
        await withDiscardingTaskGroup { group in
          let lanes = self.limits.lanes + self.limits.spareLanes
          for _ in 0..<lanes { group.addTask { await self.runLane() } }
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
      let batch = state.withLock { state -> [Waiting] in
        guard state.mayBegin(limits) else { return [] }
        let batch = Array(state.waiting.prefix(batchLength(state.waiting)))
        state.waiting.removeFirst(batch.count)
        if !batch.isEmpty { state.underWay += 1 }
        return batch
      }
      if !batch.isEmpty {
        let wasLate = await commitWatched(batch)
        state.withLock { state in
          state.underWay -= 1
          if wasLate { state.late -= 1 }
        }
      } else if await !waitForWork() {
        return
      }
    }
  }

  private func batchLength(_ waiting: [Waiting]) -> Int {
    var (count, weight) = (0, 0)
    for waiting in waiting.prefix(limits.batch) {
      weight += waiting.entry.weight
      if count > 0, weight > limits.batchWeight { break }
      count += 1
    }
    return count
  }

  /// Returns false if no further entries will come.
  private func waitForWork() async -> Bool {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isReady = state.withLock { state in
        if state.isStopping || (!state.waiting.isEmpty && state.mayBegin(limits)) { return true }
        state.idleLanes.append(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
    // Entries behind a batch in flight are for that batch's worker.
    return state.withLock { !$0.isStopping || (!$0.waiting.isEmpty && $0.mayBegin(limits)) }
  }

  /// Commits a batch, and lets another begin in parallel once it is late.
  ///
  /// Returns whether it was late.
  private func commitWatched(_ batch: [Waiting]) async -> Bool {
    guard limits.spareLanes > 0 else {
      await commit(batch)
      return false
    }
    return await withTaskGroup(of: Bool?.self) { group in
      group.addTask {
        await self.commit(batch)
        return nil
      }
      group.addTask {
        do { try await Task.sleep(for: .milliseconds(self.limits.lateAfter.milliseconds)) } catch { return false }
        self.noteLate()
        return true
      }
      var wasLate = false
      for await part in group {
        if let part { wasLate = part } else { group.cancelAll() }
      }
      return wasLate
    }
  }

  private func noteLate() {
    let lane = state.withLock { state in
      state.late += 1
      return state.waiting.isEmpty ? nil : state.idleLanes.popLast()
    }
    lane?.resume()
  }

  private func commit(_ batch: [Waiting]) async {
    do throws(DatabaseError) {
      let appended = try await write(batch.map(\.entry))
      for (waiting, appended) in zip(batch, appended) { settle(waiting, .success(appended)) }
      announce(batch, appended)
    } catch  where batch.count > 1 && error.splitsBatch {
      await commitOneByOne(batch)
    } catch {
      for waiting in batch { settle(waiting, .failure(GroupCommit.Failure(error))) }
    }
  }

  /// Commits each entry separately, so that only the faulty one fails.
  ///
  /// If the database fails, all fail.
  private func commitOneByOne(_ batch: [Waiting]) async {
    for (index, waiting) in batch.enumerated() {
      do throws(DatabaseError) {
        let appended = try await write([waiting.entry])
        for appended in appended { settle(waiting, .success(appended)) }
        announce([waiting], appended)
      } catch  where error.splitsBatch {
        settle(waiting, .failure(.database(error)))
      } catch {
        for waiting in batch[index...] { settle(waiting, .failure(GroupCommit.Failure(error))) }
        return
      }
    }
  }

  private func announce(_ batch: [Waiting], _ appended: [AppendResult]) {
    var news: GroupCommit.News = [:]
    for (waiting, appended) in zip(batch, appended) where appended.isNew {
      guard let addressee = waiting.entry.addressee else { continue }
      news[addressee.scope, default: []].insert(addressee.proof)
    }
    if !news.isEmpty { announce(news) }
  }

  private func settle(_ waiting: Waiting, _ answer: Answer) {
    state.withLock { $0.bytes -= waiting.entry.size }
    waiting.answer(answer)
  }
}
