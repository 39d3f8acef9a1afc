package enum ManualAction: Hashable, Sendable {
  /// Buys, with the effect that follows from the product: a first subscription, a resubscription, an immediate upgrade,
  /// a change for the next period or its reversal, an offer for the next period, or a single purchase.
  ///
  /// `offer` is the identifier of one of the product's offers; `"introductory"` is the introductory one.
  case buy(product: String, offer: String? = nil, quantity: Int = 1)
  /// `subscription` is an original transaction ID; `nil` means the only one.
  case setAutoRenew(Bool, subscription: String? = nil)
  /// Sets whether payments work; when they work again, overdue charges are paid immediately.
  case setPayment(works: Bool)
  case announcePrice(Int64, needsConsent: Bool, subscription: String? = nil)
  /// Agrees to the announced price; without consent the subscription ends with the period.
  case agreeToPrice(subscription: String? = nil)
  /// The customer requests a refund; Apple asks the app for consumption information.
  case requestRefund(transaction: String, reason: String)
  /// Refunds all, or `percentage` in thousandths of a percent.
  case refund(transaction: String, percentage: Int64? = nil, isForAnIssue: Bool = false)
  case declineRefund(transaction: String)
  case reverseRefund(transaction: String)
  /// Apple does not renew it at the end of its period, because the product is no longer for sale or for another reason.
  case refuseRenewal(isForSale: Bool, subscription: String? = nil)
  case extend(days: Int, subscription: String? = nil)
  case share(Bool)
  /// Gives every purchase a new V1 transaction id.
  case restore
  /// Finishes a consumable; later receipts omit it.
  case finish(transaction: String)
  case setAccountToken(String, originalTransaction: String)
}

package struct ManualActionError: Error, Hashable, Sendable {
  package enum Code: String, Hashable, Sendable, CaseIterable {
    case unknownCustomer, unknownProduct, unknownOffer, unknownTransaction, unknownSubscription
    /// The customer has several subscriptions, and the act names none.
    case ambiguousSubscription
    /// The current state does not allow it.
    case notNow
    /// Family members cannot do that to purchases shared with them.
    case notTheirs
    /// The customer's IDs are used up.
    case full
  }

  package let code: Code
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
  package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
