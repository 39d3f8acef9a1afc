import CLinux
import Dispatch
import Synchronization

/// A thread of its own for an actor whose work nobody waits for: whatever else this process has to do goes first.
///
/// Linux knows how nice a single thread is: under load this one gets about a tenth of a core. It ends with the executor.
package final class PatientExecutor: SerialExecutor {
  /// Of 19 at most; at 19 whoever waits for a lock that this thread holds could wait for long.
  private static let niceness: Int32 = 10
  /// Newer kernels let a thread finish its slice of some 3 milliseconds before one that wakes up, however nice it is.
  private static let slice: UInt64 = 100_000

  /// Jobs in their order, shared with the thread, which must not keep the executor.
  private final class Line: Sendable {
    /// With their executor, which lives until they have run.
    let jobs = Mutex<[(job: UnownedJob, executor: PatientExecutor)]>([])
    let isOver = Atomic<Bool>(false)
    /// Counts the jobs, and the end.
    let ready = DispatchSemaphore(value: 0)
  }

  private let line = Line()

  package init() {
    DedicatedThread.start { [line] in
      // Of the calling thread alone. Without it the work is done all the same.
      _ = switchyard_give_way(Self.niceness, Self.slice)
      while true {
        line.ready.wait()
        if line.isOver.load(ordering: .acquiring) { return }
        Self.runFirst(of: line)
      }
    }
  }

  deinit {
    line.isOver.store(true, ordering: .releasing)
    line.ready.signal()
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    line.jobs.withLock { $0.append((job, self)) }
    line.ready.signal()
  }

  private static func runFirst(of line: Line) {
    let (job, executor) = line.jobs.withLock { $0.removeFirst() }
    unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
  }
}
