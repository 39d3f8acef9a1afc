import CLinux
import Dispatch
import Synchronization

/// A thread for computing that nobody waits for: whatever else this process has to do goes first.
///
/// Linux knows how nice a single thread is: under load this one gets about a tenth of a core. A thread that a nice one makes is
/// as nice for ever, and Dispatch makes its threads where work is handed to it. So this one only computes, one piece at a time,
/// and an ordinary thread beside it hands on what came out. Both end with it.
package final class PatientThread: Sendable {
  /// Of 19 at most; at 19 whoever waits for a lock that this thread holds could wait for long.
  private static let niceness: Int32 = 10
  /// Newer kernels let a thread finish its slice of some 3 milliseconds before one that wakes up, however nice it is.
  private static let slice: UInt64 = 100_000

  private let computing = Line()
  private let handingOn = Line()

  package init() {
    DedicatedThread.start { [computing] in
      // Of the calling thread alone. Without it the work is done all the same.
      _ = switchyard_give_way(Self.niceness, Self.slice)
      computing.run()
    }
    DedicatedThread.start { [handingOn] in handingOn.run() }
  }

  deinit {
    computing.end()
    handingOn.end()
  }

  /// Computes `work` when its turn comes.
  ///
  /// How many wait is bounded by whoever calls.
  package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      computing.add { [handingOn] in
        let value = work()
        handingOn.add { continuation.resume(returning: value) }
      }
    }
  }

  /// Work in its order, for one thread.
  private final class Line: Sendable {
    /// Nil at the end, when nobody waits any more: whoever does keeps the thread.
    private let waiting = Mutex<[@Sendable () -> Void]?>([])
    /// Counts what waits, and the end.
    private let ready = DispatchSemaphore(value: 0)

    func add(_ work: @escaping @Sendable () -> Void) {
      waiting.withLock { $0?.append(work) }
      ready.signal()
    }

    func end() {
      waiting.withLock { $0 = nil }
      ready.signal()
    }

    func run() {
      while true {
        ready.wait()
        guard let work = waiting.withLock({ $0?.removeFirst() }) else { return }
        work()
      }
    }
  }
}
