import Synchronization

/// Calls that wait to be compared: bounded in number and bytes, and the newest is left out when there is no room.
///
/// Offering never waits: whoever does so is serving a client.
final class ShadowQueue: Sendable {
  private struct State {
    var calls: [ShadowCall] = []
    var first = 0
    var bytes = 0
    var waiting: [CheckedContinuation<ShadowCall?, Never>] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let most: Int
  private let mostBytes: Int

  init(most: Int, mostBytes: Int) {
    self.most = most
    self.mostBytes = mostBytes
  }

  var count: Int { state.withLock { $0.calls.count - $0.first } }

  /// Whether there was room for it.
  func offer(_ call: ShadowCall) -> Bool {
    let (isTaken, waiter) = state.withLock { state -> (Bool, CheckedContinuation<ShadowCall?, Never>?) in
      if state.isClosed { return (false, nil) }
      if let waiter = state.waiting.popLast() { return (true, waiter) }
      guard state.calls.count - state.first < most, state.bytes + call.size <= mostBytes else { return (false, nil) }
      state.calls.append(call)
      state.bytes += call.size
      return (true, nil)
    }
    waiter?.resume(returning: call)
    return isTaken
  }

  /// The oldest call, as soon as there is one; nil when the queue was closed.
  func next() async -> ShadowCall? {
    await withCheckedContinuation { continuation in
      let found = state.withLock { state -> ShadowCall?? in
        if state.first < state.calls.count {
          let call = state.calls[state.first]
          state.first += 1
          state.bytes -= call.size
          // Freed now and then, not with each: taking the first of an array moves all others.
          if state.first > 64, state.first * 2 > state.calls.count {
            state.calls.removeFirst(state.first)
            state.first = 0
          }
          return .some(call)
        }
        if state.isClosed { return .some(nil) }
        state.waiting.append(continuation)
        return .none
      }
      if let found { continuation.resume(returning: found) }
    }
  }

  /// Lets nobody wait any more; what waits is dropped.
  func close() {
    let waiting = state.withLock { state in
      defer { (state.waiting, state.calls, state.first, state.bytes, state.isClosed) = ([], [], 0, 0, true) }
      return state.waiting
    }
    for waiter in waiting { waiter.resume(returning: nil) }
  }
}
