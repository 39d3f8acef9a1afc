import Synchronization

/// Lets a few through at once; the others wait in the order in which they came.
///
/// What forwards takes a few connections of the pool at most, however many destinations there are: whoever takes
/// messages in finds the others.
final class Turnstile: Sendable {
  private struct State {
    var free: Int
    var waiting: ArraySlice<CheckedContinuation<Void, Never>> = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: max(1, count))) }

  /// Runs `body` when it is its turn.
  ///
  /// Not to be cancelled while it waits: everybody inside is quick.
  func pass<R>(_ body: () async -> R) async -> R {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    let result = await body()
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.free += 1 }
      return next
    }
    next?.resume()
    return result
  }
}
