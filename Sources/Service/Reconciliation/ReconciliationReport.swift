package import Ledger
package import Time

/// What a comparison with Apple found, and what became of it.
package struct ReconciliationReport: Sendable {
  package let since: Milliseconds
  package let until: Milliseconds
  /// By day, of what Apple says it sent.
  package var notifications: [Milliseconds: Completeness] = [:]
  /// By day, of the renewals that had to happen.
  package var renewals: [Milliseconds: Completeness] = [:]
  /// Notifications taken in now; in a dry run those that would be.
  package var takenIn = 0
  /// Set aside now, with their reasons in quarantine.
  package var setAside = 0
  /// Written by nobody, as the app's stage changed or quarantine is full; the next comparison finds them again.
  package var left = 0
  /// Customers asked about now; in a dry run those that would be.
  package var lookedUp = 0
  /// Of them, those that Apple does not know.
  package var unknownToApple = 0
  /// Customers not asked about, because a comparison asks about so many at most.
  package var postponed = 0

  init(since: Milliseconds, until: Milliseconds) {
    self.since = since
    self.until = until
  }

  /// Whether nothing is left to be done, by this comparison or another.
  package var isComplete: Bool { left == 0 && setAside == 0 && postponed == 0 }

  /// All days together.
  package static func sum(_ days: [Milliseconds: Completeness]) -> Completeness {
    days.values.reduce(into: Completeness()) { $0.add($1) }
  }
}
