import Time

/// A possible act, with indexes instead of names.
enum ResolvedAction: Hashable, Sendable {
  case subscribe(Int, offer: Int)
  case resubscribe(Int, to: Int, offer: Int)
  case recover(Int)
  case upgrade(Int, to: Int, offer: Int)
  case downgrade(Int, to: Int, offer: Int)
  case keep(Int)
  case redeem(Int, offer: Int)
  case buyOnce(Int, quantity: Int)
  case setAutoRenew(Bool, Int)
  case setPayment(works: Bool)
  case announce(Int64, needsConsent: Bool, Int)
  case agree(Int)
  case requestRefund(Int, reason: String)
  case refund(Int, percentage: Int64?, isForAnIssue: Bool)
  case declineRefund(Int)
  case reverseRefund(Int)
  case refuseRenewal(Int, isForSale: Bool)
  case extend(Int, days: Int)
  case share(Bool)
  case restore
  case finish(Int)
  case setAccountToken(String, Int)
}
