import Glibc

/// The two sizes of a ledger or a backlog at which the hot statements are counted; the bounds are the same for all.
enum HotSizes {
  /// Up to 2,000; `scripts/soak plans` sets SWITCHYARD_PLAN_CUSTOMERS to a real ledger's number.
  static let sizes: [Int] = {
    let most = unsafe getenv("SWITCHYARD_PLAN_CUSTOMERS").flatMap { unsafe Int(String(cString: $0)) } ?? 2_000
    return [most / 4, most]
  }()
}
