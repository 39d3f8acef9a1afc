package import HTTPServer
import Synchronization
package import Time

/// Limits the storage of unsigned messages by address, so that one stranger cannot fill the quarantine, or the ledger
/// with claims.
///
/// A token bucket for each address (IPv6: each /64, because one host may use all of its addresses). A message takes one
/// token, and one more for each 16 KiB. Addresses beyond a bounded number share one bucket. Apple's own networks are
/// exempt: a genuine V1 message with a new secret looks like junk too.
package final class SenderRateLimiter: Sendable {
  package struct Settings: Sendable {
    /// The tokens of a full bucket.
    package var burst = 100
    /// The time in which a token is added.
    package var refill = Interval.seconds(30)
    package var addresses = 16_384
    /// The networks whose messages are always stored, within the quotas.
    package var exempt: [Network] = IPAllowlist.apple

    package init() {}

    /// The settings for claims: messages with the shared secret of their app that do not come from Apple.
    ///
    /// More than any app's traffic, since an unnamed proxy may pass on Apple's.
    package static var claims: Self {
      var settings = Self()
      (settings.burst, settings.refill) = (1_000, .milliseconds(100))
      return settings
    }
  }

  private struct Bucket {
    var tokens: Double
    var filledAt: Timestamp
  }

  private struct State {
    var buckets: [[UInt8]: Bucket] = [:]
    var crowd: Bucket?
    var sweptAt: Timestamp?
  }

  private let settings: Settings
  private let state = Mutex(State())

  private static let bytesPerToken = 16 << 10
  private static let sweepEvery = Interval.seconds(1)

  package init(_ settings: Settings = Settings()) { self.settings = settings }

  private func isExempt(_ peer: PeerAddress) -> Bool { settings.exempt.contains { $0.contains(peer.bytes) } }

  /// Returns whether to store a message of `size` bytes from this address, and takes its tokens.
  package func take(_ size: Int, from peer: PeerAddress, at now: Timestamp) -> Bool {
    if isExempt(peer) { return true }
    let site = Self.site(of: peer)
    let price = Double(1 + size / Self.bytesPerToken)
    return state.withLock { state in
      if state.buckets[site] == nil, state.buckets.count >= settings.addresses { forgetFull(&state, at: now) }
      if state.buckets[site] == nil, state.buckets.count >= settings.addresses {
        var crowd = state.crowd ?? full(at: now)
        defer { state.crowd = crowd }
        return take(price, from: &crowd, at: now)
      }
      return take(price, from: &state.buckets[site, default: full(at: now)], at: now)
    }
  }

  private static func site(of peer: PeerAddress) -> [UInt8] {
    peer.bytes.count == 16 ? Array(peer.bytes.prefix(8)) : peer.bytes
  }

  private func full(at now: Timestamp) -> Bucket { Bucket(tokens: Double(settings.burst), filledAt: now) }

  private func take(_ price: Double, from bucket: inout Bucket, at now: Timestamp) -> Bool {
    bucket = Bucket(tokens: tokens(of: bucket, at: now), filledAt: max(bucket.filledAt, now))
    // A message that costs more than a full bucket empties one.
    guard bucket.tokens >= min(price, Double(settings.burst)) else { return false }
    bucket.tokens = max(0, bucket.tokens - price)
    return true
  }

  private func tokens(of bucket: Bucket, at now: Timestamp) -> Double {
    let elapsed = max(0, (now - bucket.filledAt).milliseconds)
    return min(Double(settings.burst), bucket.tokens + Double(elapsed) / Double(settings.refill.milliseconds))
  }

  /// Removes full buckets; at most once a second, since it scans all.
  private func forgetFull(_ state: inout State, at now: Timestamp) {
    if let sweptAt = state.sweptAt, now < sweptAt + Self.sweepEvery { return }
    state.sweptAt = now
    state.buckets = state.buckets.filter { tokens(of: $0.value, at: now) < Double(settings.burst) }
  }
}
