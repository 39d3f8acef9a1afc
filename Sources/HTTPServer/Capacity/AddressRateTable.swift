import Time

/// One rate for each address (IPv6: each /64, all of whose addresses one host may use), in bounded memory.
///
/// When more addresses are at work than are kept, new ones share one bucket: a stranger with many addresses exhausts
/// that, not the memory, and takes nothing from addresses that are known already.
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

  /// Returns whether the address may, and counts it.
  mutating func take(_ peer: PeerAddress, at now: Deadline) -> Bool { take(peer.site, at: now) }

  /// The same for whatever else has a name in bytes.
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

  /// At most once a second, since it looks at all of them.
  private mutating func forgetFull(at now: Deadline) {
    guard nextSweep <= now else { return }
    nextSweep = now + .seconds(1)
    buckets = buckets.filter { !$0.value.isFull(rate, at: now) }
  }
}
