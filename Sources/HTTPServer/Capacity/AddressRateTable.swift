import Time

/// A rate for each address (IPv6: each /64, because one host may use all of its addresses), in bounded memory.
///
/// Addresses above the bound share one bucket. A stranger with many addresses exhausts that bucket, not the memory, and
/// takes nothing from known addresses.
struct AddressRateTable: Sendable {
  private let rate: Rate
  private let most: Int
  private var buckets: [[UInt8]: TokenBucket] = [:]
  private var crowd: TokenBucket
  private var nextSweep: Deadline

  init(_ rate: Rate, most: Int = 16_384, at now: Deadline) {
    self.rate = rate
    self.most = most
    crowd = TokenBucket(rate, at: now)
    nextSweep = now
  }

  mutating func take(_ peer: PeerAddress, at now: Deadline) -> Bool { take(peer.site, at: now) }

  /// Returns whether another key is below its rate, and counts it.
  mutating func take(_ site: [UInt8], at now: Deadline) -> Bool {
    if var bucket = buckets[site] {
      defer { buckets[site] = bucket }
      return bucket.take(rate, at: now)
    }
    if buckets.count >= most { forgetFull(at: now) }
    guard buckets.count < most else { return crowd.take(rate, at: now) }
    var bucket = TokenBucket(rate, at: now)
    defer { buckets[site] = bucket }
    return bucket.take(rate, at: now)
  }

  var count: Int { buckets.count }

  /// Runs at most once a second, since it scans all.
  private mutating func forgetFull(at now: Deadline) {
    guard nextSweep <= now else { return }
    nextSweep = now + .seconds(1)
    buckets = buckets.filter { !$0.value.isFull(rate, at: now) }
  }
}
