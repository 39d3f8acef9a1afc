import Mappings
import Purchases
import Time
import Wire

/// The state of a V1 notification's subscription, and the conditions of `v1-events.tsv`.
///
/// It uses only the body; times are compared with the body's as-of, never with now.
struct V1SubscriptionState {
  let body: V1NotificationBody
  let asOf: Timestamp
  /// The purchases of one originalTransactionId, by date of purchase.
  let rows: [V1Purchase]
  let renewal: PendingRenewalInfo?
  /// The revoked purchase: the one that CANCEL names, otherwise the one cancelled last.
  let target: V1Purchase?
  /// The purchase with the latest end that was neither upgraded nor revoked, otherwise not upgraded, otherwise of all.
  ///
  /// For an INTERACTIVE_RENEWAL it is the last bought of them.
  let current: V1Purchase?
  /// The purchase before `current`.
  let previous: V1Purchase?

  init(
    body: V1NotificationBody, asOf: Timestamp, rows: [V1Purchase], renewal: PendingRenewalInfo?,
    target: V1Purchase?
  ) {
    self.body = body
    self.asOf = asOf
    let inOrder = rows.placesInOrder.map { rows[$0] }
    self.rows = inOrder
    self.renewal = renewal
    self.target = target
    let intact = rows.filter { !$0.isUpgraded }
    let standing = intact.filter { $0.cancelledAt == nil }
    let candidates = standing.isEmpty ? intact.isEmpty ? rows : intact : standing
    // The new purchase: before upgrades were marked, a year that a month replaced seems to end later.
    let isBought = body.notificationType == "INTERACTIVE_RENEWAL"
    let last = candidates.max {
      isBought ? $0.purchaseOrder < $1.purchaseOrder : Self.end($0) < Self.end($1)
    }
    current = last
    previous = last.flatMap { last in
      inOrder.last { $0.purchaseOrder < last.purchaseOrder && $0.isSubscription }
    }
  }

  func holds(_ condition: V1EventTable.Condition) -> Bool {
    switch condition {
    case .always: true
    case .replacedPrevious: hasReplacedPrevious
    case .afterLapse: !hasReplacedPrevious && hasLapsed
    case .firstPurchase: previous == nil && (current?.facts.isOriginalTransaction ?? false)
    case .offerWhileActive: previous != nil && !hasReplacedPrevious && !hasLapsed && (current?.hasOffer ?? false)
    case .otherProductNext: nextProduct.map { $0.next != $0.present } ?? false
    case .sameProductNext: nextProduct.map { $0.next == $0.present } ?? false
    case .companionOfPurchase: isCompanionOfPurchase
    case .companionOfRefund: isCompanionOfRefund
    case .switchedOn: autoRenewStatus == true && !isCompanionOfPurchase
    case .switchedOff: autoRenewStatus == false && !isCompanionOfRefund
    case .endedByCustomer: ended == 1
    case .endedByBilling: ended == 2
    case .endedByPrice: ended == 3
    case .endedByProduct: ended == 4
    case .endedOtherwise: ended.map { !(1...4).contains($0) } ?? false
    // An upgrade is identified by its replacement: without it no event exists.
    case .upgraded: target?.isUpgraded == true && current?.isUpgraded == false
    case .refunded: target?.isUpgraded != true
    case .inGracePeriod: isInGracePeriod
    case .retryEnded: !isInGracePeriod && retry == false
    case .inRetry: !isInGracePeriod && retry != false
    case .consented: consent == 1
    case .consentPending: consent != 1
    }
  }

  private var hasReplacedPrevious: Bool {
    guard let previous, let current else { return false }
    return previous.isReplaced(by: current)
  }

  private var hasLapsed: Bool {
    guard let previous, let current else { return false }
    return previous.hasEnded(before: current)
  }

  private var nextProduct: (next: String, present: String)? {
    guard let next = renewal?.autoRenewProductID ?? body.autoRenewProductID,
      let present = renewal?.productID ?? current?.productID
    else { return nil }
    return (next, present)
  }

  private var autoRenewStatus: Bool? { body.autoRenewStatus ?? renewal?.autoRenewStatus }

  /// A purchase enables auto-renewal, 4 s apart in real data.
  private var isCompanionOfPurchase: Bool {
    guard autoRenewStatus == true, let change = body.autoRenewStatusChangeDate else { return false }
    return rows.contains { row in
      row.purchasedAt.map { (change - $0).milliseconds.magnitude <= 10_000 } ?? false
    }
  }

  /// A refund disables it in the same millisecond.
  private var isCompanionOfRefund: Bool {
    guard autoRenewStatus == false, let change = body.autoRenewStatusChangeDate else { return false }
    return rows.contains { $0.cancelledAt == change }
  }

  /// The reason why the subscription ended, by Apple's `expiration_intent`; `nil` while it runs or may still be paid.
  private var ended: Int64? {
    guard autoRenewStatus == false, !isCompanionOfRefund, !isInGracePeriod, retry != true,
      let intent = renewal?.expirationIntent ?? body.expirationIntent, let end = current?.endsAt, end <= asOf
    else { return nil }
    return intent
  }

  private var retry: Bool? { renewal?.isInBillingRetryPeriod }
  private var isInGracePeriod: Bool { renewal?.gracePeriodExpiresDate.map { asOf < $0 } ?? false }
  private var consent: Int64? { renewal?.priceConsentStatus ?? renewal?.priceIncreaseStatus }

  private static func end(_ purchase: V1Purchase) -> (Timestamp, Timestamp, String) {
    (purchase.endsAt ?? .beforeAll, purchase.purchasedAt ?? .beforeAll, purchase.facts.text(.transactionId) ?? "")
  }
}
