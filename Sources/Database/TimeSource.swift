package import Time

/// The clock and the random numbers of a pool, which tests replace.
package struct TimeSource: Sendable {
  /// The monotonic time since a fixed moment.
  package var elapsed: @Sendable () -> Interval
  /// Returns after the interval.
  ///
  /// Throws if the task is cancelled.
  package var sleep: @Sendable (Interval) async throws -> Void
  /// Returns a number of milliseconds from 0 up to and including the given one.
  package var random: @Sendable (Int64) -> Int64

  package init(
    elapsed: @escaping @Sendable () -> Interval, sleep: @escaping @Sendable (Interval) async throws -> Void,
    random: @escaping @Sendable (Int64) -> Int64
  ) {
    self.elapsed = elapsed
    self.sleep = sleep
    self.random = random
  }

  package static var system: TimeSource {
    let start = ContinuousClock.now
    return TimeSource(
      elapsed: { .milliseconds(Int64((ContinuousClock.now - start) / .milliseconds(1))) },
      sleep: { try await Task.sleep(for: .milliseconds($0.milliseconds)) },
      random: { Int64.random(in: 0...max(0, $0)) })
  }
}

package struct RetryPolicy: Sendable, Equatable {
  package var attempts = 10
  /// No further attempt begins after this time.
  package var within: Interval = .seconds(15)
  /// Random pauses, so that two conflicting transactions do not conflict again.
  package var backoff = Backoff(first: .milliseconds(10), longest: .seconds(1))

  package init() {}
}
