package import Time

/// The passage of time and the chance a pool needs, handed in so that tests decide both.
package struct TimeSource: Sendable {
  /// Time since some fixed moment; never runs backwards.
  package var elapsed: @Sendable () -> Interval
  /// Returns after the interval; throws when the task is cancelled.
  package var sleep: @Sendable (Interval) async throws -> Void
  /// A number of milliseconds from 0 up to and including the given one.
  package var random: @Sendable (Int64) -> Int64

  package init(
    elapsed: @escaping @Sendable () -> Interval, sleep: @escaping @Sendable (Interval) async throws -> Void,
    random: @escaping @Sendable (Int64) -> Int64
  ) {
    self.elapsed = elapsed
    self.sleep = sleep
    self.random = random
  }

  /// The machine's monotonic clock and its random numbers.
  package static var system: TimeSource {
    let start = ContinuousClock.now
    return TimeSource(
      elapsed: { .milliseconds(Int64((ContinuousClock.now - start) / .milliseconds(1))) },
      sleep: { try await Task.sleep(for: .milliseconds($0.milliseconds)) },
      random: { Int64.random(in: 0...max(0, $0)) })
  }
}

/// How often, how long and at what distance a transaction is tried again.
package struct RetryPolicy: Sendable, Equatable {
  package var attempts = 10
  /// No further attempt begins after this much time.
  package var within: Interval = .seconds(15)
  /// Each pause is drawn by chance, so that two transactions that met once do not meet again.
  package var backoff = Backoff(first: .milliseconds(10), longest: .seconds(1))

  package init() {}
}
