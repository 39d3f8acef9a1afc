import HTTPServer
import Ledger

/// Limits the IDs from unsigned messages that are looked up at Apple, by address and app.
///
/// A V1 body is about one customer with a few IDs; a stranger's may list 10,000.
struct LookupQuota: Sendable {
  private let limiter: AddressRateLimiter

  init(_ rate: Rate = Rate(burst: 1_000, perSecond: 1)) { limiter = AddressRateLimiter(rate) }

  /// Reserves `count` IDs; returns the number that may wait.
  func take(_ count: Int, from sender: PeerAddress, of app: String) -> Int {
    let name = "\(sender.site) \(app)"
    for taken in 0..<count where !limiter.take(name) { return taken }
    return count
  }
}
