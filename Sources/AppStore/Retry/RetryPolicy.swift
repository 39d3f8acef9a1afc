import Mappings
package import Time

/// How often a call is made again, and how long that may take.
package struct RetryPolicy: Sendable {
  package enum Decision: Equatable, Sendable {
    case again(after: Interval)
    case giveUp
  }

  /// All attempts together, the first included.
  package var attempts: Int
  /// From the first attempt to the beginning of the last, waiting for the budget included.
  package var within: Interval
  package var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))

  package init(attempts: Int, within: Interval) {
    self.attempts = attempts
    self.within = within
  }

  /// For somebody who waits.
  package static let interactive = Self(attempts: 4, within: .seconds(20))
  /// For work that nobody waits for.
  package static let bulk = Self(attempts: 8, within: .minutes(10))

  /// What to do after a failure.
  ///
  /// - Parameters:
  ///   - attempt: how many were made, from 1.
  ///   - begun: when the first was made.
  ///   - jitter: from 0 to 1, drawn anew each time: the wait is that part of the longest (full jitter), so that many
  ///     who failed together do not come back together.
  package func decision(
    after failure: APIError, attempt: Int, begun: Timestamp, now: Timestamp, jitter: Double
  ) -> Decision {
    guard attempt < attempts else { return .giveUp }
    switch failure.repetition {
    case .never: return .giveUp
    case .ifRepeatable where !failure.endpoint.row.isRepeatable: return .giveUp
    case .safe, .ifRepeatable: break
    }
    let spread = Interval.milliseconds(Int64(Double(backoff.ceiling(after: attempt).milliseconds) * jitter))
    let wait = failure.retryAt.map { max($0 - now, .milliseconds(0)) + spread } ?? spread
    return now + wait - begun <= within ? .again(after: wait) : .giveUp
  }
}

extension Interval {
  static func + (a: Self, b: Self) -> Self { .milliseconds(a.milliseconds + b.milliseconds) }
}
