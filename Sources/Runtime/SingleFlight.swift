import Synchronization

/// Work that several want at one time, done once for all of them.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let underWay = Mutex<[Key: Task<Value, Never>]>([:])

  package init() {}

  /// Returns what `work` finds, or what the one that was begun already finds; nil if none was and none may be begun.
  ///
  /// - Parameter mayBegin: called if none is under way, while nobody else can begin one.
  package func value(
    of key: Key, where mayBegin: () -> Bool, _ work: @escaping @Sendable () async -> Value
  ) async -> Value? {
    let task: Task<Value, Never>? = underWay.withLock { underWay in
      if let task = underWay[key] { return task }
      guard mayBegin() else { return nil }
      // Shared by all who wait, so no single one's child.
      let task = Task {
        let value = await work()
        self.underWay.withLock { $0[key] = nil }
        return value
      }
      underWay[key] = task
      return task
    }
    return await task?.value
  }

  /// The same, where it may be begun at any time.
  package func value(of key: Key, _ work: @escaping @Sendable () async -> Value) async -> Value {
    while true {
      if let value = await value(of: key, where: { true }, work) { return value }
    }
  }

  /// Whether somebody has begun it.
  package func isUnderWay(_ key: Key) -> Bool { underWay.withLock { $0[key] != nil } }
}
