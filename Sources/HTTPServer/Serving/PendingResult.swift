import Synchronization

/// A handler's pending result, a response or an admission, from its start until the connection takes it.
final class PendingResult<Value: Sendable>: Sendable {
  private enum State {
    /// The handler has begun on the loop's thread and has not yet left it.
    case starting
    case awaited(Task<Void, Never>)
    case ready(Value)
    /// Taken, or cancelled: a result is dropped.
    case over
  }

  private let connection: UInt64
  private let loop: EventLoop
  private let state = Mutex(State.starting)

  /// - Parameter connection: the one that the loop resumes when the result is ready.
  init(for connection: UInt64, of loop: EventLoop) {
    self.connection = connection
    self.loop = loop
  }

  /// Starts `work`, whose result may be ready on return.
  func start(_ work: @escaping @Sendable () async -> Value) {
    // The one task without a parent: this is a thread's edge. The connection waits for it, or cancels it.
    let task = Task.immediate {
      let value = await work()
      deliver(value)
    }
    state.withLock { state in
      if case .starting = state { state = .awaited(task) }
    }
  }

  /// Returns the result, once; `nil` before.
  func take() -> Value? {
    state.withLock { state in
      guard case .ready(let value) = state else { return nil }
      state = .over
      return value
    }
  }

  func giveUp() {
    let task: Task<Void, Never>? = state.withLock { state in
      defer { state = .over }
      if case .awaited(let task) = state { return task } else { return nil }
    }
    task?.cancel()
  }

  private func deliver(_ value: Value) {
    let isAwaited = state.withLock { state in
      switch state {
      case .starting:
        state = .ready(value)
        return false
      case .awaited:
        state = .ready(value)
        return true
      case .ready, .over: return false
      }
    }
    if isAwaited { loop.tell(.answered(connection)) }
  }
}
