import Synchronization

/// How many pieces of heavy work go on at once in a process: of a subscription of 12,000 periods one look-up holds some 80 MB,
/// and keeps a core busy for as long as it takes.
///
/// Whoever comes when all are taken waits in line, up to a number.
package final class AsyncSemaphore: Sendable {
  /// Why there is no slot.
  package enum Refusal: Error, Equatable {
    /// Too many wait already.
    case overloaded
    /// The caller was cancelled while it waited.
    case cancelled
  }

  private struct Waiting {
    let number: UInt64
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    var next: UInt64 = 0
    var waiting: [Waiting] = []
  }

  private let waiters: Int
  private let state: Mutex<State>

  /// - Parameters:
  ///   - count: pieces at once.
  ///   - waiters: those that wait for them at most.
  package init(count: Int = 1, waiters: Int = 16) {
    self.waiters = waiters
    state = Mutex(State(free: count))
  }

  /// Callers in line.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs the body when it is its turn.
  package func withSlot<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async throws(Refusal) {
    let number: UInt64? = state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return nil
      }
      state.next += 1
      return state.next
    }
    guard let number else { return }
    let isIn = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
        let answer: Bool? = state.withLock { state in
          // Cancelled already, or a slot became free meanwhile.
          if Task.isCancelled { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          if state.waiting.count >= waiters { return false }
          state.waiting.append(Waiting(number: number, continuation: continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
      }
      waiting?.continuation.resume(returning: false)
    }
    guard isIn else { throw Task.isCancelled ? .cancelled : .overloaded }
  }

  private func leave() {
    let next: Waiting? = state.withLock { state in
      if state.waiting.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.continuation.resume(returning: true)
  }
}
