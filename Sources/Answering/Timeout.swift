import Synchronization

/// Returns the value of `work` if it ends within `limit`, otherwise `otherwise`.
///
/// A task group would wait for a child that hangs; here the caller leaves and the work continues.
///
/// - Parameter late: called when the work ends after the limit.
package func withTimeout<Value: Sendable>(
  within limit: Duration, otherwise: Value, late: @escaping @Sendable () -> Void = {},
  _ work: @escaping @Sendable () async -> Value
) async -> Value {
  await withTimeout(until: { try? await Task.sleep(for: limit) }, otherwise: otherwise, late: late, work)
}

/// Returns the value of `work` if it ends before `end` returns, otherwise `otherwise`.
///
/// - Parameter late: called when the work ends after all.
package func withTimeout<Value: Sendable>(
  until end: @escaping @Sendable () async -> Void, otherwise: Value, late: @escaping @Sendable () -> Void = {},
  _ work: @escaping @Sendable () async -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    let race = Race(continuation)
    let timer = Task {
      await end()
      if !Task.isCancelled { race.finish(otherwise) }
    }
    Task {
      let value = await work()
      if race.finish(value) { timer.cancel() } else { late() }
    }
  }
}

private final class Race<Value: Sendable>: Sendable {
  private let waiter: Mutex<CheckedContinuation<Value, Never>?>

  init(_ waiter: CheckedContinuation<Value, Never>) { self.waiter = Mutex(waiter) }

  /// Returns whether it was the first.
  @discardableResult
  func finish(_ value: Value) -> Bool {
    let first = waiter.withLock { waiter in
      defer { waiter = nil }
      return waiter
    }
    first?.resume(returning: value)
    return first != nil
  }
}
