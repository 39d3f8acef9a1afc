/// A rate limit: a burst, and then a number per second.
package struct Rate: Hashable, Sendable {
  package let burst: Int
  package let perSecond: Int

  package init(burst: Int, perSecond: Int) {
    self.burst = burst
    self.perSecond = perSecond
  }
}

/// The tokens left of a rate.
///
/// Each event takes one token.
struct TokenBucket: Sendable {
  /// Thousandths of a token: at 3 a second, a millisecond adds 3 of them.
  private var left: Int64
  private var filledAt: Deadline

  init(_ rate: Rate, at now: Deadline) {
    left = Self.most(rate)
    filledAt = now
  }

  mutating func take(_ rate: Rate, at now: Deadline) -> Bool {
    fill(rate, at: now)
    guard left >= 1_000 else { return false }
    left -= 1_000
    return true
  }

  /// Whether it can be removed without loss.
  func isFull(_ rate: Rate, at now: Deadline) -> Bool {
    var filled = self
    filled.fill(rate, at: now)
    return filled.left == Self.most(rate)
  }

  private mutating func fill(_ rate: Rate, at now: Deadline) {
    // An hour fills any useful bucket, and cannot overflow.
    let elapsed = min(max(0, now.milliseconds(since: filledAt)), 3_600_000)
    left = min(Self.most(rate), left + elapsed * Int64(rate.perSecond))
    filledAt = max(filledAt, now)
  }

  private static func most(_ rate: Rate) -> Int64 { Int64(rate.burst) * 1_000 }
}
