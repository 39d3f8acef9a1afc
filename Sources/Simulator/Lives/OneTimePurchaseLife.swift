package import Time

/// One purchase of what does not renew by itself, and what becomes of it.
package struct OneTimePurchaseLife: Sendable {
  package let app: SimulatedApp
  package private(set) var transaction: SimulatedTransaction
  private var ids: IdentifierSource

  package init(
    of product: Product, by customer: Customer, in app: SimulatedApp, at date: Milliseconds,
    ids: inout IdentifierSource
  ) {
    precondition(product.period == nil, "\(product.id) renews")
    self.app = app
    transaction = SimulatedTransaction(of: product, by: customer, in: app, at: date, ids: &ids)
    self.ids = ids
    // Two purchases of one life must not tell by the same UUIDs.
    self.ids.random = SplitMix64(seed: ids.random.next(), part: 0)
  }

  package mutating func buy() -> NotificationDraft { tell("ONE_TIME_CHARGE", at: transaction.purchaseDate) }

  /// The customer asks Apple for the money back; the app is asked how much was used.
  package mutating func requestRefund(
    reason: String = "UNINTENDED_PURCHASE", at date: Milliseconds
  ) -> NotificationDraft {
    tell("CONSUMPTION_REQUEST", at: date, consumptionRequestReason: reason)
  }

  package mutating func refund(reason: Int64 = 0, at date: Milliseconds) -> NotificationDraft {
    transaction.revocation = Revocation(at: date, .refundFull, reason: reason, percentage: 100_000)
    return tell("REFUND", at: date)
  }

  package mutating func declineRefund(at date: Milliseconds) -> NotificationDraft { tell("REFUND_DECLINED", at: date) }

  package mutating func reverseRefund(at date: Milliseconds) -> NotificationDraft {
    transaction.revocation = nil
    return tell("REFUND_REVERSED", at: date)
  }

  private mutating func tell(
    _ type: String, at date: Milliseconds, consumptionRequestReason: String? = nil
  ) -> NotificationDraft {
    let signed = date + .milliseconds(Int64(ids.random.number(in: 800..<6_000)))
    let subject = NotificationSubject(
      transaction: transaction.payload(signedAt: signed), consumptionRequestReason: consumptionRequestReason)
    return NotificationDraft(type, of: app, at: signed, uuid: ids.uuid(), .data(subject))
  }
}
