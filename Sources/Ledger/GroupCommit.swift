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
    /// Bytes of the bodies of all entries that have no answer yet, those being committed included.
    package var waitingBytes = 64 << 20
    /// Batches under way at once; two lanes of half-full batches cost the database a quarter more than one of full ones.
    package var lanes = 1

    package init() {}
  }

  /// Why an entry was not written.
  package enum Failure: Error, Equatable, Sendable {
    case overloaded
    case stopping
    /// The app's stage is not the one that was decided by: nothing was written, decide anew.
    case stageChanged
    /// The disk has less free than is to stay free, or the database found none: nothing was written.
    case diskFull
    case database(DatabaseError)
  }

  private typealias Answer = Result<Appended, Failure>

  private struct Waiting: Sendable {
    let number: UInt64
    let entry: Entry
    let answer: @Sendable (Answer) -> Void
  }

  private struct State {
    var waiting: [Waiting] = []
    /// Of all without an answer.
    var bytes = 0
    var idleLanes: [CheckedContinuation<Void, Never>] = []
    var isStopping = false
  }

  private let state = Mutex(State())
  private let numbers = Atomic<UInt64>(0)
  private let limits: Limits
  private let write: @Sendable ([Entry]) async throws(DatabaseError) -> [Appended]
  private let announce: @Sendable (News) -> Void
  private let disk: @Sendable () -> DiskLevel

  /// What a commit put into the outbox: classes of messages, by app and environment.
  package typealias News = [Ledger.Scope: Set<ProofClass>]

  /// - Parameters:
  ///   - announce: told after each commit what it put into the outbox, if anything; must not block.
  ///   - disk: how much room the database has, asked for each entry; must not block.
  package convenience init(
    _ ledger: Ledger, limits: Limits = Limits(), announce: @escaping @Sendable (News) -> Void = { _ in },
    disk: @escaping @Sendable () -> DiskLevel = { .ample }
  ) {
    self.init(
      limits: limits, write: { entries throws(DatabaseError) in try await ledger.append(entries) },
      announce: announce, disk: disk)
  }

  /// For tests: anything that writes a batch.
  package init(
    limits: Limits = Limits(), write: @escaping @Sendable ([Entry]) async throws(DatabaseError) -> [Appended],
    announce: @escaping @Sendable (News) -> Void = { _ in }, disk: @escaping @Sendable () -> DiskLevel = { .ample }
  ) {
    self.limits = limits
    self.disk = disk
    self.write = write
    self.announce = announce
  }

  /// Entries that wait for their commit.
  package var depth: Int { state.withLock { $0.waiting.count } }

  /// Bytes of the bodies of all entries that have no answer yet.
  package var bytes: Int { state.withLock { $0.bytes } }

  /// What became of the entry, once it is committed.
  ///
  /// A caller that is cancelled before its entry's commit has begun gets `overloaded`, and nothing is written.
  package func append(_ entry: Entry) async throws(Failure) -> Appended {
    guard entry.isKept(at: disk()) else { throw .diskFull }
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        enqueue(Waiting(number: number, entry: entry) { continuation.resume(returning: $0) })
        // Who was cancelled before was looked for in vain.
        if Task.isCancelled { forget(number) }
      }
    } onCancel: {
      forget(number)
    }
    let appended = try answer.get()
    if appended == .stageChanged { throw .stageChanged }
    return appended
  }

  private func forget(_ number: UInt64) {
    let forgotten: Waiting? = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiting.remove(at: index)
    }
    if let forgotten { settle(forgotten, .failure(.overloaded)) }
  }

  private func enqueue(_ waiting: Waiting) {
    let (refusal, lane) = state.withLock { state -> (Failure?, CheckedContinuation<Void, Never>?) in
      if state.isStopping { return (.stopping, nil) }
      guard state.waiting.count < limits.waiting, state.bytes + waiting.entry.size <= limits.waitingBytes else {
        return (.overloaded, nil)
      }
      state.waiting.append(waiting)
      state.bytes += waiting.entry.size
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
      for (waiting, appended) in zip(batch, appended) { settle(waiting, .success(appended)) }
      announce(batch, appended)
    } catch  where batch.count > 1 && error.mayBeOneRow {
      await commitOneByOne(batch)
    } catch {
      for waiting in batch { settle(waiting, .failure(Failure(error))) }
    }
  }

  /// Each alone, so that only the guilty one fails; all that are left when the database itself does.
  private func commitOneByOne(_ batch: [Waiting]) async {
    for (index, waiting) in batch.enumerated() {
      do throws(DatabaseError) {
        let appended = try await write([waiting.entry])
        for appended in appended { settle(waiting, .success(appended)) }
        announce([waiting], appended)
      } catch  where error.mayBeOneRow {
        settle(waiting, .failure(.database(error)))
      } catch {
        for waiting in batch[index...] { settle(waiting, .failure(Failure(error))) }
        return
      }
    }
  }

  private func announce(_ batch: [Waiting], _ appended: [Appended]) {
    var news: News = [:]
    for (waiting, appended) in zip(batch, appended) where appended.isNew {
      guard let addressee = waiting.entry.addressee else { continue }
      news[addressee.scope, default: []].insert(waiting.entry.isAccepted ? addressee.proof : .unproven)
    }
    if !news.isEmpty { announce(news) }
  }

  private func settle(_ waiting: Waiting, _ answer: Answer) {
    state.withLock { $0.bytes -= waiting.entry.size }
    waiting.answer(answer)
  }
}

extension GroupCommit.Failure {
  fileprivate init(_ error: DatabaseError) { self = error.isDiskFull ? .diskFull : .database(error) }
}

extension Entry {
  /// What it counts for while it waits: its body's bytes.
  package var size: Int { message.body.count }
}

extension DatabaseError {
  /// Whether one row may have spoiled it for the others; after any other error each alone would only fail again, later.
  package var mayBeOneRow: Bool {
    if isDiskFull { return false }
    return switch code {
    case .duplicateKey, .tooLarge, .column, .other: true
    case .connectionLost, .connectionRefused, .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .deadlock,
      .lockWaitTimeout, .recordChanged, .nodeNotReady, .commitOutcomeUnknown, .misuse, .abandoned, .closed:
      false
    }
  }
}
