import Synchronization

/// Counts what happens in several tasks.
package final class Tally: Sendable {
  private let kept = Mutex(0)

  package init() {}

  package var count: Int { kept.withLock { $0 } }

  /// Counts one more; returns how many there are now.
  @discardableResult
  package func add() -> Int {
    kept.withLock { count in
      count += 1
      return count
    }
  }
}
