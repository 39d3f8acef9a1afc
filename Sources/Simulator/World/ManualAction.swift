/// Something that is ordered by hand to happen to a customer, now.
package enum ManualAction: Hashable, Sendable {
  /// Buys, whatever that comes to: a first subscription, another after it lapsed, an upgrade at once, a downgrade or
  /// crossgrade for the next period, the return from one, an offer for the next period, or a purchase for once.
  ///
  /// `offer` is the identifier of one of the product's offers; `"introductory"` is the introductory one.
  case buy(product: String, offer: String? = nil, quantity: Int = 1)
  /// Of the subscription whose original transaction id it is; nil: of the only one.
  case setAutoRenew(Bool, subscription: String? = nil)
  /// Whether the customer's way of paying works; when it does again, what is owed is paid at once.
  case setPayment(works: Bool)
  case announcePrice(Int64, needsConsent: Bool, subscription: String? = nil)
  /// Agrees to the price that was announced; who never does loses the subscription when the period ends.
  case agreeToPrice(subscription: String? = nil)
  /// The customer asks for money back; Apple asks the app how much was used.
  case requestRefund(transaction: String, reason: String)
  /// Apple gives all the money back, or so many thousandths of a percent of it.
  case refund(transaction: String, percentage: Int64? = nil, isForAnIssue: Bool = false)
  case declineRefund(transaction: String)
  case reverseRefund(transaction: String)
  /// Apple does not renew it at the end of its period: the product is not for sale any more, or for another reason.
  case refuseRenewal(isForSale: Bool, subscription: String? = nil)
  case extend(days: Int, subscription: String? = nil)
  case share(Bool)
  /// Gives every purchase a new V1 transaction id.
  case restore
  /// Done with a consumable: receipts leave it out from now on.
  case finish(transaction: String)
  /// What Set App Account Token does.
  case setAccountToken(String, originalTransaction: String)
}

/// Why an act cannot happen.
package struct ManualActionError: Error, Hashable, Sendable {
  package enum Code: String, Hashable, Sendable, CaseIterable {
    case unknownCustomer, unknownProduct, unknownOffer, unknownTransaction, unknownSubscription
    /// More than one subscription, and the act does not say which.
    case ambiguousSubscription
    /// Not possible as things stand.
    case notNow
    /// Family members cannot do that to what is shared with them.
    case notTheirs
    /// The customer has used up their ids.
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
