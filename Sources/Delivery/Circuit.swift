package import Time

/// Whether a destination seems to be up: one that is down is probed by one message at a time, not by all that wait.
///
/// Of one process, on purpose: each has a road of its own to the destination, and one that is cut off must not keep the
/// others from sending; nor is there a row that all would write with every attempt. The price is a probe a minute for
/// each process.
package struct Circuit: Hashable, Sendable {
  private var failures = 0
  private var probeAt = Timestamp(.min)

  /// Failures without a success between them after which a destination counts as down.
  static let threshold = 5
  static let pauses = Backoff(longest: .minutes(1))

  package init() {}

  package var isOpen: Bool { failures >= Self.threshold }

  /// How many may be sent now, of `free` that could be, with `busy` on their way.
  package func allowance(free: Int, busy: Int, at now: Timestamp) -> Int {
    guard isOpen else { return free }
    return busy == 0 && now >= probeAt ? min(1, free) : 0
  }

  package mutating func noteSuccess() { self = Circuit() }

  /// - Parameter random: a number of milliseconds from 0 up to and including the given one.
  package mutating func noteFailure(at now: Timestamp, random: (Int64) -> Int64) {
    failures += 1
    guard isOpen else { return }
    let ceiling = Self.pauses.ceiling(after: failures - Self.threshold + 1).milliseconds
    // At least half of it, since a probe has nobody to be spread from but itself.
    probeAt = now + .milliseconds(ceiling / 2 + random(ceiling / 2))
  }
}
