/// A part of the process that runs until it is told to stop: the surface of swift-service-lifecycle's `Service`.
package protocol Service: Sendable {
  /// The name in the log; the type's unless told otherwise.
  var name: String { get }

  /// Runs until its task is cancelled, cleans up and returns; throwing `CancellationError` is as good.
  ///
  /// Returning or throwing without being asked stops the whole group. What must still be done after cancellation, such
  /// as writing a checkpoint, goes into `withCancellationShield`.
  func run() async throws
}

extension Service {
  package var name: String { "\(Self.self)" }
}

/// Suspends until the current task is cancelled.
package func untilCancelled() async {
  let (stream, continuation) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
  withExtendedLifetime(continuation) {}
}

/// Runs `body` to its end although the current task is or will be cancelled; give it a limit of its own.
///
/// On the executor that the current task prefers, as its children would.
package func withCancellationShield<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  // The one task without a parent: being awaited right here is what keeps it in the structure. It goes on where the
  // caller runs, as a child of his would.
  let executor = unsafe withUnsafeCurrentTask { task in unsafe task?.unownedTaskExecutor?.asTaskExecutor() }
  return try await Task(executorPreference: executor) { try await body() }.value
}
