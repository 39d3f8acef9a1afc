package import Time

/// How many calls a second Apple takes, as far as refusals have taught it; of all processes together.
///
/// Additive increase, multiplicative decrease: until the first refusal the rate doubles each second; a refusal takes a
/// tenth off; then it returns quickly to nine tenths of where the refusal was and creeps on from there, so slowly that
/// fewer than one call in 300 is refused. Pure: what happened and when goes in, the state comes out.
package struct AdaptiveRate: Hashable, Sendable {
  /// Calls a second.
  package private(set) var perSecond: Double
  /// Until then nothing may be sent, as Apple said.
  package private(set) var blockedUntil: Timestamp?
  /// The rate that was refused last, and when.
  package private(set) var refusedRate: Double?
  package private(set) var refusedAt: Timestamp?
  /// When the last call that was let go has had its time: a process that comes later begins there, not with a burst of
  /// its own.
  package private(set) var takenUntil: Timestamp?
  /// By all processes, as far as one can tell.
  private var answeredSince = 0.0

  package init(_ bounds: RateBounds) { perSecond = bounds.start }

  /// As a store kept it.
  package init(
    perSecond: Double, blockedUntil: Timestamp?, refusedRate: Double?, refusedAt: Timestamp?,
    takenUntil: Timestamp? = nil
  ) {
    self.perSecond = perSecond
    self.blockedUntil = blockedUntil
    self.refusedRate = refusedRate
    self.refusedAt = refusedAt
    self.takenUntil = takenUntil
  }

  /// A call was let go; the next is due at `instant`.
  mutating func took(until instant: Timestamp) { takenUntil = max(takenUntil ?? instant, instant) }

  /// Calls of the sawtooth from nine tenths to the refused rate; at high rates it takes half a minute instead.
  private static let climb = 300.0
  private static let climbSeconds = 30.0

  /// A call was not refused; only one that the rate held back says that there is room for more.
  ///
  /// - Parameter weight: for how many calls of all processes together it stands.
  package mutating func answered(wasPaced: Bool, weight: Double = 1, _ bounds: RateBounds) {
    answeredSince += weight
    guard wasPaced else { return }
    if let refused = refusedRate {
      let near = refused * 0.9
      let top = max(refused, perSecond)
      // The part that is left grows ever smaller: without the slow step it would never get there, and never beyond.
      perSecond += weight * max((near - perSecond) / 20, top * 0.1 / max(Self.climb, top * Self.climbSeconds))
    } else {
      perSecond += min(weight, perSecond)
    }
    perSecond = min(perSecond, bounds.most)
  }

  /// Apple refused a call that was let go at `takenAt`; it takes others from `retryAt` on.
  ///
  /// Calls that were on their way when the rate was lowered last say nothing of the lower rate.
  package mutating func refused(
    takenAt: Timestamp, retryAt: Timestamp?, now: Timestamp, _ bounds: RateBounds
  ) {
    let pause = retryAt ?? now + .milliseconds(Int64(max(1_000, min(60_000, 1_000 / perSecond))))
    blockedUntil = max(blockedUntil ?? pause, pause)
    if let refusedAt, takenAt <= refusedAt { return }
    let factor = refusedRate == nil ? 0.8 : answeredSince >= 100 ? 0.9 : 0.7
    refusedRate = perSecond
    refusedAt = now
    perSecond = max(bounds.least, perSecond * factor)
    answeredSince = 0
  }

  /// What two processes know together: the later refusal counts, and of two who know of the same the higher rate.
  ///
  /// Order and repetition do not matter, so that a store may merge whatever it finds.
  package func merged(with other: Self) -> Self {
    func rank(_ rate: Self) -> (Int64, Double, Double) {
      (rate.refusedAt?.sinceEpoch ?? .min, rate.perSecond, rate.refusedRate ?? 0)
    }
    var merged = rank(self) >= rank(other) ? self : other
    // Of the same refusal whoever has counted longest is right; a store does not count.
    if refusedAt == other.refusedAt { merged.answeredSince = max(answeredSince, other.answeredSince) }
    merged.blockedUntil = [blockedUntil, other.blockedUntil].compactMap(\.self).max()
    merged.takenUntil = [takenUntil, other.takenUntil].compactMap(\.self).max()
    return merged
  }

  /// Within the bounds, whatever a store kept.
  func bounded(_ bounds: RateBounds) -> Self {
    var rate = self
    rate.perSecond = perSecond.isFinite ? min(max(perSecond, bounds.least), bounds.most) : bounds.start
    return rate
  }
}
