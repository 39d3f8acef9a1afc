import Dispatch
package import Testing

/// Runs tests that compute for seconds, without a pause, on a thread of their own.
///
/// The cooperative pool has as many threads as the machine has cores. On one core such a test would stop every service
/// under test for as long: they answer 503 then, or 21005, as they should when nothing makes progress.
///
/// Tests that wait for a child task by blocking must not have it: children run on the same thread.
package struct LongComputation: SuiteTrait, TestTrait, TestScoping {
  private static let thread = ComputingThread()

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Self.thread) { try await function() }
  }
}

extension Trait where Self == LongComputation {
  package static var computesForLong: LongComputation { LongComputation() }
}

/// One thread, whatever the number of cores: a serial queue gets its own (`SerialQueueExecutor`).
private final class ComputingThread: TaskExecutor {
  private let queue = DispatchQueue(label: "tests that compute for long")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }
}
