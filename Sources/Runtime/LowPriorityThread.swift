import CLinux
import Dispatch
import Glibc
import Synchronization

/// A thread for computing that nobody waits for: whatever else this process has to do goes first.
///
/// Linux knows how nice a single thread is: under load this one gets about a tenth of a core. A thread that a nice one makes is
/// as nice for ever, and Dispatch makes its threads where work is handed to it. So this one only computes, one piece at a time,
/// and an ordinary thread beside it hands on what came out. Both end with it.
package final class LowPriorityThread: Sendable {
  /// Added to the niceness of the process.
  ///
  /// Linux's scale ends at 19. There, a thread that waits for a lock that this one holds could wait for long.
  private static let nicer: Int32 = 10
  /// In nanoseconds.
  ///
  /// Newer kernels let a thread finish its slice before one that wakes up runs, however nice it is.
  private static let slice: UInt64 = 100_000

  private let computing = Line()
  private let handingOn = Line()

  package init() {
    DedicatedThread.start { [computing] in
      // Of the calling thread alone. Without it the work is done all the same.
      let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
      _ = switchyard_give_way(min(19, own + Self.nicer), Self.slice)
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
  /// It does not limit how many pieces wait: its callers do. `work` must hand nothing to Dispatch and resume no task: a thread
  /// that is made for that would be as nice as this one.
  package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    // What waits is dropped with the object.
    defer { withExtendedLifetime(self) {} }
    return await withCheckedContinuation { continuation in
      computing.add { [handingOn] in
        let value = work()
        handingOn.add { continuation.resume(returning: value) }
      }
    }
  }

  /// Work in its order, for one thread.
  private final class Line: Sendable {
    /// Nil once the thread is to end.
    ///
    /// Nothing waits then: a caller that waits keeps the `LowPriorityThread`.
    private let waiting = Mutex<[@Sendable () -> Void]?>([])
    /// Signalled for each piece of work, and at the end.
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
