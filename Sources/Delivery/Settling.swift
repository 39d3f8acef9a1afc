import HTTPClient
package import Ledger
package import Time

extension Settlement.Outcome {
  /// How often a message without proof is tried again, and only if nobody answered.
  package static let unprovenRepeats = 3
  /// A refused message is given up early after so many refusals, each after the destination took others of the lane, and
  /// not before `refusedAge`.
  package static let mostRefusals = 8
  package static let refusedAge = Interval.hours(1)

  /// What is noted of a delivery after an attempt: decided by these values alone.
  ///
  /// A message is given up after three days. Earlier: one without proof as soon as anybody answers, and one that the
  /// destination refuses again and again while it takes others. Where it refuses everything, as after a bad deploy, nothing is
  /// given up.
  ///
  /// - Parameter refusals: how often the destination refused this message after it took others of the lane.
  /// - Parameter random: a number of milliseconds from 0 up to and including the given one.
  package init(
    after attempt: Attempt, of delivery: LeasedDelivery, refusals: Int = 0, backoff: Backoff, at now: Timestamp,
    random: (Int64) -> Int64
  ) {
    switch attempt {
    case .delivered: self = .delivered
    case .failed(.noAnswer(.cancelled)), .failed(.noAnswer(.shutDown)): self = .released
    case .failed(let reason):
      let isUseless =
        switch reason {
        // What is damaged, or sealed under a key that is lost, is not mended by waiting: others of its customer would wait, too.
        case .bodyMissing, .bodyUnreadable: true
        case .status: delivery.proof == .unproven
        case .noAnswer: delivery.proof == .unproven && delivery.attempt > Self.unprovenRepeats
        }
      let isRefused = refusals >= Self.mostRefusals && now >= delivery.createdAt + Self.refusedAge
      if now >= delivery.expiresAt || isUseless || isRefused {
        self = .dead(error: "\(reason)")
      } else {
        let ceiling = backoff.ceiling(after: delivery.attempt).milliseconds
        self = .failed(error: "\(reason)", retryAt: now + .milliseconds(random(ceiling)))
      }
    }
  }
}
