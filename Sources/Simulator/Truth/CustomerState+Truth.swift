package import JSON
import Signing
import Time

/// The data of a perfect back end about a customer.
extension CustomerState {
  /// One object for the customer, each purchase and each subscription, under Apple's V2 names.
  ///
  /// `transaction`, `renewal` and `appTransaction` are V2's payloads without signing dates; `status` is at `asOf`.
  package var truth: [JSONObject] {
    var person = head("customer")
    person.add("userId", userID)
    person.add("receipt", DeviceReceipt(of: self)?.generation.rawValue)
    person.add("appTransaction", .object(appTransaction.payload(signedAt: nil)))
    person.add("originalTransactionIds", .array(originalTransactionIDs.map(JSONValue.string)))
    return [person.object]
      + purchases.map { purchase in
        var line = head("purchase")
        line.add("transaction", .object(purchase.transaction.payload(signedAt: nil)))
        line.add("orderId", purchase.orderID)
        line.add("isFinished", purchase.isFinished)
        line.add("lastModifiedDate", purchase.modifiedAt)
        line.add("restoredTransactionIds", .array(purchase.restoredTransactionIDs.map(JSONValue.string)))
        return line.object
      }
      + subscriptions.map { subscription in
        var line = head("subscription")
        line.add("originalTransactionId", subscription.originalTransactionID)
        line.add("transactionId", subscription.transaction.transactionID)
        line.add("status", subscription.status)
        line.add("renewal", .object(subscription.renewal.payload(signedAt: nil)))
        return line.object
      }
  }

  /// The data available without V2, from a receipt and a verifyReceipt response at `asOf`.
  ///
  /// The same objects with V1's certain facts; uncertain facts are omitted.
  package var legacyTruth: [JSONObject] {
    let sold = legacyPurchases
    return sold.map { purchase in
      var line = head("purchase")
      line.add("transaction", .object(purchase.legacyFacts(environment: app.environment.rawValue)))
      return line.object
    }
      + subscriptions.map { subscription in
        var line = head("subscription")
        line.add("originalTransactionId", subscription.originalTransactionID)
        line.add("status", subscription.legacyStatus)
        if subscription.legacyRenewal != nil { line.add("renewal", .object(subscription.legacyFacts)) }
        return line.object
      }
  }

  /// The distinct IDs by which Apple's history finds all purchases, in the order of the purchases.
  package var originalTransactionIDs: [String] {
    var seen: Set<String> = []
    return purchases.map(\.transaction.originalTransactionID).filter { seen.insert($0).inserted }
  }

  private func head(_ kind: String) -> PayloadMembers {
    var line = PayloadMembers()
    line.add("kind", kind)
    line.add("app", app.bundleID)
    line.add("environment", app.environment.rawValue)
    line.add("customer", id.description)
    line.add("asOf", date)
    return line
  }
}

extension SimulatedReceipt.Purchase {
  /// Returns V2's facts as far as V1 has them.
  fileprivate func legacyFacts(environment: String) -> JSONObject {
    var facts = PayloadMembers()
    facts.add("transactionId", transactionID)
    facts.add("originalTransactionId", transaction.originalTransactionID)
    facts.add("webOrderLineItemId", transaction.webOrderLineItemID)
    facts.add("bundleId", transaction.bundleID)
    facts.add("productId", transaction.product.id)
    facts.add("subscriptionGroupIdentifier", transaction.product.subscriptionGroupID)
    facts.add("purchaseDate", transaction.purchaseDate)
    facts.add("originalPurchaseDate", originalPurchaseDate)
    facts.add("expiresDate", transaction.expiresDate)
    facts.add("quantity", transaction.quantity)
    // The receipt's attribute 1707.
    facts.add("type", transaction.product.kind.rawValue)
    facts.add("appAccountToken", transaction.appAccountToken)
    facts.add("inAppOwnershipType", transaction.ownership.rawValue)
    facts.add("revocationReason", transaction.revocation?.reason)
    facts.add("revocationDate", transaction.revocation?.date)
    facts.add("isUpgraded", transaction.isUpgraded ? true : nil)
    switch transaction.offer?.kind {
    case .introductory:
      facts.add("offerType", 1 as Int64)
      // V1 does not report how paid offers are paid.
      if transaction.isTrialPeriod { facts.add("offerDiscountType", "FREE_TRIAL") }
    case .promotional, .offerCode:
      facts.add("offerType", transaction.offer?.kind.rawValue)
      facts.add("offerIdentifier", transaction.offer?.identifier)
    // V1 has no known field for it.
    case .winBack, nil: break
    }
    facts.add("environment", environment)
    return facts.object
  }
}

extension WorldSubscription {
  /// The status in V1.
  ///
  /// A cancellation in grace has no `pending_renewal_info`, and looks expired.
  fileprivate var legacyStatus: Int64 { legacyRenewal == nil ? 2 : status }

  fileprivate var legacyFacts: JSONObject {
    var facts = PayloadMembers()
    facts.add("expirationIntent", renewal.expirationIntent?.rawValue)
    facts.add("originalTransactionId", renewal.originalTransactionID)
    facts.add("autoRenewProductId", renewal.nextProduct.id)
    facts.add("productId", renewal.product.id)
    facts.add("autoRenewStatus", renewal.willRenew ? 1 : 0 as Int64)
    if renewal.expirationIntent != nil { facts.add("isInBillingRetryPeriod", renewal.isInBillingRetryPeriod) }
    facts.add("priceIncreaseStatus", renewal.priceIncreaseStatus)
    facts.add("gracePeriodExpiresDate", renewal.gracePeriodExpiresDate)
    if let offer = renewal.offer, offer.kind == .promotional || offer.kind == .offerCode {
      facts.add("offerType", offer.kind.rawValue)
      facts.add("offerIdentifier", offer.identifier)
    }
    return facts.object
  }
}
