import Synchronization

/// The end of all waits for look-ups: those who wait hear of it when the process is to stop.
final class WaitCancellation: Sendable {
  private struct State {
    var isOver = false
    var next = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// Returns when the waits are over, or when the current task is cancelled.
  func untilOver() async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let number: Int? = state.withLock { state in
      if state.isOver { return nil }
      state.next += 1
      state.waiting[state.next] = continuation
      return state.next
    }
    guard let number else { return }
    for await _ in stream {}
    state.withLock { _ = $0.waiting.removeValue(forKey: number) }
  }

  func declare() {
    let waiting = state.withLock { state in
      state.isOver = true
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }
}
