package import Time

/// Where processes share what Apple allows.
///
/// A store gives each process that has calls waiting a lease: a share of the key's whole rate, for a short time. A store
/// in a database keeps a row for each (key, process) and nothing for the key itself: a process writes its own row alone
/// (what it knows, until when it wants a share) and reads the others, so that no row is hot. The share is one over the
/// number of rows whose lease has not ended; what is known is all rows' `AdaptiveRate`, merged. Whoever joins keeps its bulk
/// back until every lease that was given without it has ended: else all together would exceed the rate, be refused, and
/// learn too low a limit from that.
package protocol RateLimitStore: Sendable {
  /// Renews the lease of this process, and tells and hears what was learned.
  ///
  /// Called by one task at a time for each key, about once a second while calls are waiting; a process that does not
  /// come back gives its share to the others when its lease ends.
  func renew(_ key: RateLimitKey, knowing learned: AdaptiveRate, at now: Timestamp) async throws -> RateLimitShare

  /// Ends the lease of this process, whose calls of this key are over, and keeps what it learned.
  func leave(_ key: RateLimitKey, knowing learned: AdaptiveRate, at now: Timestamp) async throws
}

/// A share of a key's rate.
package struct RateLimitShare: Hashable, Sendable {
  /// Above 0, up to 1.
  package let share: Double
  package let learned: AdaptiveRate
  /// When to renew it at the latest.
  package let until: Timestamp
  /// Until then the others count on more than is left to them: only whoever waits for an answer may go.
  package let bulkFrom: Timestamp?

  package init(share: Double, learned: AdaptiveRate, until: Timestamp, bulkFrom: Timestamp? = nil) {
    self.share = share
    self.learned = learned
    self.until = until
    self.bulkFrom = bulkFrom
  }
}
