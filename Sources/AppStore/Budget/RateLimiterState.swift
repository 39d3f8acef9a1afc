package import Time

/// When the next call of one process may go out: its share of the learned rate, evenly spaced.
///
/// Pure: (state, now) → decision.
package struct RateLimiterState: Sendable {
  /// A call that may go out.
  package struct Permit: Hashable, Sendable {
    package let takenAt: Timestamp
    /// Whether the rate held calls back: then an answer says that there is room for more.
    package let wasPaced: Bool
  }

  package enum Decision: Hashable, Sendable {
    case now(Permit)
    /// Ask again at this time, not before.
    case at(Timestamp)
  }

  package var learned: AdaptiveRate
  /// This process's part of the whole, above 0 and up to 1.
  package var share: Double
  package let bounds: RateBounds
  /// When the next call is due, in milliseconds with fractions: at 700 calls a second one millisecond is too coarse.
  ///
  /// Nil before the first, which is due when the last of any process has had its time.
  private var due: Double?

  /// What a timer may be late without losing calls.
  private static let slack = 50.0
  /// One answer is not taken for more, however many share the rate.
  private static let heaviest = 8.0

  package init(bounds: RateBounds, learned: AdaptiveRate? = nil, share: Double = 1) {
    self.bounds = bounds
    self.learned = (learned ?? AdaptiveRate(bounds)).bounded(bounds)
    self.share = share
  }

  /// Milliseconds from one call to the next.
  private var gap: Double { 1_000 / (learned.perSecond * share) }

  /// Lets a call go, or says when.
  package mutating func take(now: Timestamp) -> Decision {
    if let blocked = learned.blockedUntil, blocked > now { return .at(blocked) }
    let instant = Double(now.sinceEpoch)
    let earliest = instant - max(Self.slack, (Double(bounds.burst) * share - 1) * gap)
    // No call is due later than this but by a clock that was set back, or by another's share.
    let due = min(self.due ?? learned.takenUntil.map { Double($0.sinceEpoch) } ?? earliest, instant + gap)
    let wasPaced = due > instant - Self.slack
    let start = max(due, earliest)
    guard start <= instant else {
      self.due = start
      return .at(Timestamp(Int64(start.rounded(.up))))
    }
    self.due = start + gap
    learned.took(until: Timestamp(Int64((start + gap).rounded(.up))))
    return .now(Permit(takenAt: now, wasPaced: wasPaced))
  }

  package mutating func answered(_ grant: Permit) {
    // The others have their answers too, and each tells of its own alone.
    learned.answered(wasPaced: grant.wasPaced, weight: min(1 / share, Self.heaviest), bounds)
  }

  package mutating func refused(_ grant: Permit, retryAt: Timestamp?, now: Timestamp) {
    learned.refused(takenAt: grant.takenAt, retryAt: retryAt, now: now, bounds)
  }

  /// Takes what the store knows; this process's own spacing stays.
  package mutating func adopt(_ learned: AdaptiveRate, share: Double) {
    self.learned = self.learned.merged(with: learned).bounded(bounds)
    self.share = min(1, max(share, 0.001))
  }

  /// How long so many calls will take from `now` on, at today's rate.
  package func forecast(calls: Int, now: Timestamp) -> RateLimitForecast {
    let blocked = max(Interval.milliseconds(0), (learned.blockedUntil ?? now) - now)
    let spacing = Double(max(0, calls)) * gap
    let length = Interval.milliseconds(blocked.milliseconds + Int64(min(spacing, 1e15)))
    return RateLimitForecast(
      length: length, perSecond: learned.perSecond * share,
      cause: blocked > .milliseconds(0) ? .blocked : learned.refusedRate == nil ? .documented : .learned)
  }
}

/// How long work will take, and what that depends on.
package struct RateLimitForecast: Hashable, Sendable {
  package enum Cause: String, Sendable {
    /// Apple refused, and named the time from which it takes calls again.
    case blocked
    /// The rate that refusals have taught.
    case learned
    /// The rate begun with, which nobody has refused yet.
    case documented
  }

  package let length: Interval
  package let perSecond: Double
  package let cause: Cause
}
