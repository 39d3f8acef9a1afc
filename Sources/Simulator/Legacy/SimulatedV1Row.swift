package import JSON
import Time

/// A purchase as a V1 row, in which every value is a string.
///
/// Apple: responseBody.Receipt.In_app and responseBody.Latest_receipt_info.
package struct SimulatedV1Row: Sendable {
  package enum Place: Sendable, CaseIterable {
    case inApp
    case latestReceiptInfo
  }

  package let purchase: SimulatedReceipt.Purchase
  package let place: Place
  package let era: V1Era

  package init(_ purchase: SimulatedReceipt.Purchase, in place: Place, era: V1Era = .current) {
    self.purchase = purchase
    self.place = place
    self.era = era
  }

  package var object: JSONObject {
    let transaction = purchase.transaction
    let isSubscription = transaction.product.kind == .autoRenewable
    let isLatest = place == .latestReceiptInfo
    var row = PayloadMembers()
    row.add("quantity", String(transaction.quantity))
    row.add("product_id", transaction.product.id)
    row.add("transaction_id", purchase.transactionID)
    row.add("original_transaction_id", transaction.originalTransactionID)
    row.addLegacy("purchase_date", transaction.purchaseDate)
    row.addLegacy("original_purchase_date", purchase.originalPurchaseDate)
    if isSubscription {
      row.addLegacy("expires_date", transaction.expiresDate)
      row.add("web_order_line_item_id", transaction.webOrderLineItemID)
    }
    row.add("is_trial_period", String(transaction.isTrialPeriod))
    if isSubscription { row.add("is_in_intro_offer_period", String(transaction.isInIntroOfferPeriod)) }
    row.addLegacy("cancellation_date", transaction.revocation?.date)
    row.add("cancellation_reason", transaction.revocation.map { String($0.reason) })
    if era.hasOwnership { row.add("in_app_ownership_type", transaction.ownership.rawValue) }
    if isLatest, era.hasSubscriptionGroup {
      row.add("subscription_group_identifier", transaction.product.subscriptionGroupID)
    }
    if isLatest, transaction.isUpgraded { row.add("is_upgraded", "true") }
    if transaction.offer?.kind == .promotional { row.add("promotional_offer_id", transaction.offer?.identifier) }
    if isLatest, transaction.offer?.kind == .offerCode { row.add("offer_code_ref_name", transaction.offer?.identifier) }
    if isLatest { row.add("app_account_token", transaction.appAccountToken) }
    return row.object
  }
}

extension SimulatedTransaction {
  /// Only the introductory free trial is known to count.
  var isTrialPeriod: Bool { offer?.kind == .introductory && offer?.discount == .freeTrial }
  var isInIntroOfferPeriod: Bool { offer?.kind == .introductory && offer?.discount != .freeTrial }
}

extension WorldSubscription {
  /// The V1 data about the next renewal; `nil` where V1 omits it, after a cancellation in grace.
  ///
  /// Apple: responseBody.Pending_renewal_info.
  package var legacyRenewal: JSONObject? {
    if status == 4, !renewal.willRenew { return nil }
    var row = PayloadMembers()
    row.add("auto_renew_product_id", renewal.nextProduct.id)
    row.add("product_id", renewal.product.id)
    row.add("original_transaction_id", renewal.originalTransactionID)
    row.add("auto_renew_status", renewal.willRenew ? "1" : "0")
    row.add("expiration_intent", renewal.expirationIntent.map { String($0.rawValue) })
    if renewal.expirationIntent != nil, let isRetried = renewal.isInBillingRetryPeriod {
      row.add("is_in_billing_retry_period", isRetried ? "1" : "0")
    }
    row.addLegacy("grace_period_expires_date", renewal.gracePeriodExpiresDate)
    if let status = renewal.priceIncreaseStatus {
      if isConsentAsked { row.add("price_consent_status", String(status)) }
      row.add("price_increase_status", String(status))
    }
    if renewal.offer?.kind == .promotional { row.add("promotional_offer_id", renewal.offer?.identifier) }
    if renewal.offer?.kind == .offerCode { row.add("offer_code_ref_name", renewal.offer?.identifier) }
    return row.object
  }
}
