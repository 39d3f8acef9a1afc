package import Time

/// Clock, sleep and chance: what a test hands in instead of the machine's.
package struct CallTimeSource: Sendable {
  package let clock: WallClock
  /// Throws when the task is cancelled.
  package let sleep: @Sendable (Interval) async throws -> Void
  /// From 0 to 1.
  package let jitter: @Sendable () -> Double

  package init(
    clock: WallClock,
    sleep: @escaping @Sendable (Interval) async throws -> Void = {
      try await Task.sleep(for: .milliseconds(max(0, $0.milliseconds)))
    },
    jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
  ) {
    self.clock = clock
    self.sleep = sleep
    self.jitter = jitter
  }
}
