import HTTPServer
import Ledger

/// About how many ids that only unsigned messages name Apple is asked because of each address, for each app.
///
/// A V1 body is about one customer, who has a few; one of a stranger's may list 10,000.
struct LookupQuota: Sendable {
  private let limiter: AddressRateLimiter

  init(_ rate: Rate = Rate(burst: 1_000, perSecond: 1)) { limiter = AddressRateLimiter(rate) }

  /// Takes room for `count` ids; how many of them may wait.
  func take(_ count: Int, from sender: PeerAddress, of app: String) -> Int {
    let name = "\(sender.site) \(app)"
    for taken in 0..<count where !limiter.take(name) { return taken }
    return count
  }
}
