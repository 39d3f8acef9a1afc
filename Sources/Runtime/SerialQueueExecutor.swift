import Dispatch

/// A thread of its own for an actor whose calls block in C.
///
/// A blocking call on the cooperative pool stops everything else on this machine's two cores; a *concurrent* dispatch
/// queue does the same on Linux. A serial queue gets its own thread. (`DispatchSerialQueue` does not exist on Linux,
/// hence these lines.)
package final class SerialQueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  package init(label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedSerialExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
