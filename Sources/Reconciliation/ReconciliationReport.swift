package import Ledger
package import Time

/// What a comparison with Apple found, and what became of it.
package struct ReconciliationReport: Sendable {
  package enum Part: String, Sendable {
    case notifications, subscriptions
  }

  /// A part that ended before its end; what it had found is in the figures.
  package struct Unfinished: Sendable, CustomStringConvertible {
    package let part: Part
    package let error: any Error

    package var description: String { "\(part.rawValue): \(error)" }
  }

  package let since: Timestamp
  package let until: Timestamp
  /// By day, of what Apple says it sent.
  package var notifications: [Timestamp: Completeness] = [:]
  /// By day, of the renewals that had to happen.
  package var renewals: [Timestamp: Completeness] = [:]
  /// Notifications taken in now; in a dry run those that would be.
  package var takenIn = 0
  /// In quarantine, with their reasons: those that were set aside now, and those that had been before.
  package var setAside = 0
  /// Written by nobody, as the app's stage changed or quarantine is full; the next comparison finds them again.
  package var left = 0
  /// Customers asked about now; in a dry run those that would be.
  package var lookedUp = 0
  /// Of them, those that Apple does not know.
  package var unknownToApple = 0
  /// Of them, those of whom nothing was heard in many attempts: `switchyard seeds status --ids` has the reasons.
  package var failed = 0
  /// Customers who are still to be asked about: the work is there, and is done by whoever has time.
  package var pending = 0
  /// Customers not asked about, because a comparison asks about so many at most.
  package var postponed = 0
  package private(set) var unfinished: [Unfinished] = []

  init(since: Timestamp, until: Timestamp) {
    self.since = since
    self.until = until
  }

  /// A part that ended because its task was cancelled.
  package struct Stopped: Error, CustomStringConvertible {
    package var description: String { "stopped before its end" }
  }

  /// Notes why a part ended early.
  mutating func end(_ part: Part, because error: any Error) {
    let isStopped = Task.isCancelled || error is CancellationError
    unfinished.append(Unfinished(part: part, error: isStopped ? Stopped() : error))
  }

  /// Whether it ended because its task was cancelled.
  package var isStopped: Bool { unfinished.contains { $0.error is Stopped } }

  func hasEnded(_ part: Part) -> Bool { unfinished.contains { $0.part == part } }

  /// Whether nothing is left to be done, by this comparison or another.
  package var isComplete: Bool {
    left == 0 && setAside == 0 && postponed == 0 && pending == 0 && failed == 0 && unfinished.isEmpty
  }

  /// All days together.
  package static func sum(_ days: [Timestamp: Completeness]) -> Completeness {
    days.values.reduce(into: Completeness()) { $0.add($1) }
  }
}
