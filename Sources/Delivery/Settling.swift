import HTTPClient
package import Ledger
package import Time

extension Settlement.Outcome {
  /// What is noted of a delivery after an attempt: decided by these values alone.
  ///
  /// - Parameter random: a number of milliseconds from 0 up to and including the given one.
  package init(
    after attempt: Attempt, of delivery: LeasedDelivery, backoff: Backoff, at now: Milliseconds,
    random: (Int64) -> Int64
  ) {
    switch attempt {
    case .delivered: self = .delivered
    case .failed(.noAnswer(.cancelled)), .failed(.noAnswer(.shutDown)): self = .released
    case .failed(let reason):
      if now >= delivery.expiresAt || reason == .bodyMissing {
        self = .dead(error: "\(reason)")
      } else {
        let ceiling = backoff.ceiling(after: delivery.attempt).milliseconds
        self = .failed(error: "\(reason)", retryAt: now + .milliseconds(random(ceiling)))
      }
    }
  }
}
