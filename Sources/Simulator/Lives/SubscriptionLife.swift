package import Time

/// One customer's subscription from its first purchase on: each thing that happens to it is told by a notification.
///
/// What happens must be possible at that moment: no renewal of what was cancelled, no recovery without a failure.
package struct SubscriptionLife: Sendable {
  package let app: SimulatedApp
  package let customer: Customer
  /// Every period, as it stands now, the oldest first.
  package private(set) var periods: [SimulatedTransaction]
  package internal(set) var renewal: SimulatedRenewal
  var ids: IdentifierSource
  private var lastTold: Milliseconds

  package init(
    of product: Product, by customer: Customer, in app: SimulatedApp, from date: Milliseconds, offer: Offer? = nil,
    ownership: SimulatedTransaction.Ownership = .purchased, ids: IdentifierSource
  ) {
    precondition(product.period != nil, "\(product.id) does not renew")
    var ids = ids
    var first = SimulatedTransaction(of: product, by: customer, in: app, at: date, offer: offer, ids: &ids)
    first.ownership = ownership
    self.app = app
    self.customer = customer
    self.ids = ids
    lastTold = date
    periods = [first]
    renewal = SimulatedRenewal(after: first)
  }

  /// The period that counts: the last one.
  package internal(set) var current: SimulatedTransaction {
    get { periods[periods.count - 1] }
    set { periods[periods.count - 1] = newValue }
  }

  /// When the current period ends or ended, grace not counted.
  package var expiresDate: Milliseconds { current.expiresDate ?? current.purchaseDate }

  /// Apple's number for the status at a time.
  package func status(at date: Milliseconds) -> Int64 {
    if let revocation = current.revocation, revocation.date <= date { return 5 }
    if date < expiresDate { return 1 }
    if let grace = renewal.gracePeriodExpiresDate, date < grace { return 4 }
    return renewal.isInBillingRetryPeriod == true ? 3 : 2
  }

  /// The customer's place in an answer of Get All Subscription Statuses at `date`.
  package func answer(at date: Milliseconds) -> SimulatedAnswer.Status {
    SimulatedAnswer.Status(status(at: date), current, renewal)
  }

  /// A notification about it as it stands, signed some seconds after `date` and after everything told before.
  mutating func tell(
    _ type: String, _ subtype: String? = nil, at date: Milliseconds, consumptionRequestReason: String? = nil
  ) -> NotificationDraft {
    let signed = max(date, lastTold) + .milliseconds(Int64(ids.random.number(in: 800..<6_000)))
    lastTold = signed
    let nested = signed - .milliseconds(Int64(ids.random.number(in: 0..<40)))
    let subject = NotificationSubject(
      transaction: current.payload(signedAt: nested), renewal: renewal.payload(signedAt: nested),
      status: status(at: signed), consumptionRequestReason: consumptionRequestReason)
    return NotificationDraft(type, subtype, of: app, at: signed, uuid: ids.uuid(), .data(subject))
  }

  /// A new period, and an intention without anything that was about the old one.
  mutating func charge(
    for product: Product, at date: Milliseconds, _ reason: SimulatedTransaction.Reason, offer: Offer? = nil
  ) {
    var next = SimulatedTransaction(of: product, by: customer, in: app, at: date, offer: offer, ids: &ids)
    next.originalTransactionID = current.originalTransactionID
    next.originalPurchaseDate = current.originalPurchaseDate
    next.ownership = current.ownership
    next.reason = reason
    next.price = offer?.price ?? renewal.price ?? product.price
    let start = renewal.recentSubscriptionStartDate
    periods.append(next)
    renewal = SimulatedRenewal(after: next)
    renewal.originalTransactionID = next.originalTransactionID
    renewal.recentSubscriptionStartDate = start
  }
}
