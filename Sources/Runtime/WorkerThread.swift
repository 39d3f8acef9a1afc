import Synchronization

/// A thread beside the others, for work that must not keep them.
///
/// One piece of work runs at a time; what it awaits runs elsewhere, and lets the next begin. The line of work that has not
/// begun is bounded.
package actor WorkerThread {
  private let executor: SerialQueueExecutor
  /// Pieces of work so far.
  private var count = 0
  private nonisolated let longestLine: Int
  /// The sizes, added up, of the work that has not begun.
  private nonisolated let line = Mutex(0)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// - Parameter longestLine: the sizes, added up, of the work that may wait for its turn.
  package init(label: String, longestLine: Int = .max) {
    executor = SerialQueueExecutor(label: label)
    self.longestLine = longestLine
  }

  /// Does `work` on the thread, but for what it awaits; nil if the line is too long for it, or if its task was cancelled before
  /// its turn came.
  ///
  /// - Parameter size: of this piece of work, in the unit of `longestLine`. However large it is, it may wait alone.
  package nonisolated func run<Value: Sendable>(
    size: Int = 1, _ work: @Sendable () async -> Value
  ) async -> Value? {
    let isRoom = line.withLock { line in
      guard line == 0 || line <= longestLine - size else { return false }
      line += size
      return true
    }
    guard isRoom else { return nil }
    return await runInTurn(size, work)
  }

  private func runInTurn<Value: Sendable>(_ size: Int, _ work: @Sendable () async -> Value) async -> Value? {
    // Without anything of the actor's own in it, Swift 6.3.1 never comes here: it calls `work` on the caller's thread.
    count += 1
    line.withLock { $0 -= size }
    // Whoever wanted it has gone: those behind it need not wait.
    if Task.isCancelled { return nil }
    return await work()
  }
}
