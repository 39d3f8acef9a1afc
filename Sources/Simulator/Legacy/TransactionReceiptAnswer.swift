package import JSON
package import Signing
import Time

/// The verifyReceipt response for an iOS 6 transaction receipt: flat objects without arrays.
package struct TransactionReceiptAnswer: Sendable {
  package var sent: SimulatedReceipt.Purchase
  package var state: CustomerState

  package init(about sent: SimulatedReceipt.Purchase, of state: CustomerState) {
    self.sent = sent
    self.state = state
  }

  /// The newest period of the subscription in the sent receipt; otherwise `nil`.
  private var latest: SimulatedReceipt.Purchase? {
    state.latestPeriods.first { $0.transaction.originalTransactionID == sent.transaction.originalTransactionID }
  }

  private var subscription: WorldSubscription? {
    state.subscriptions.first { $0.originalTransactionID == sent.transaction.originalTransactionID }
  }

  /// Whether the subscription is not paid, in grace or not: status 21006.
  package var isExpired: Bool { subscription.map { $0.status != 1 } ?? false }

  /// Creates the response, with a new receipt by `signer` while the subscription is active.
  package func object(signedBy signer: CertificateAuthority) throws(CertificateError) -> JSONObject {
    var answer = PayloadMembers()
    if let subscription { answer.add("auto_renew_status", subscription.renewal.willRenew ? 1 : 0 as Int64) }
    if let subscription, !isExpired { answer.add("auto_renew_product_id", subscription.renewal.nextProduct.id) }
    answer.add("receipt", .object(signed(sent).object))
    if let subscription, let latest {
      if isExpired {
        answer.add("latest_expired_receipt_info", .object(self.latest(latest)))
        let renewal = subscription.renewal
        if let intent = renewal.expirationIntent {
          answer.add("expiration_intent", String(intent.rawValue))
          answer.add("is_in_billing_retry_period", renewal.isInBillingRetryPeriod == true ? "1" : "0")
        }
      } else {
        answer.add("latest_receipt_info", .object(self.latest(latest)))
        let receipt = try SimulatedTransactionReceipt(latest).encoded(signedBy: signer)
        answer.add("latest_receipt", String(decoding: receipt, as: UTF8.self))
      }
    }
    answer.add("status", isExpired ? 21_006 : 0 as Int64)
    return answer.object
  }

  private func signed(_ purchase: SimulatedReceipt.Purchase) -> PayloadMembers {
    var row = PayloadMembers()
    for (key, value) in SimulatedTransactionReceipt(purchase).pairs { row.add(key.replacing("-", with: "_"), value) }
    return row
  }

  private func latest(_ purchase: SimulatedReceipt.Purchase) -> JSONObject {
    var row = signed(purchase)
    let transaction = purchase.transaction
    row.addLegacy("cancellation_date", transaction.revocation?.date)
    row.add("cancellation_reason", transaction.revocation.map { String($0.reason) })
    row.add("in_app_ownership_type", transaction.ownership.rawValue)
    return row.object
  }

  /// Returns one transaction in V1's deprecated fields, with `expires_date` in milliseconds.
  static func flat(_ purchase: SimulatedReceipt.Purchase, in app: SimulatedApp) -> JSONObject {
    let transaction = purchase.transaction
    let isProduction = app.environment == .production
    var row = PayloadMembers()
    row.add("quantity", String(transaction.quantity))
    row.add("product_id", transaction.product.id)
    row.add("transaction_id", purchase.transactionID)
    row.add("original_transaction_id", transaction.originalTransactionID)
    row.addLegacy("purchase_date", transaction.purchaseDate)
    row.addLegacy("original_purchase_date", purchase.originalPurchaseDate)
    if transaction.product.kind == .autoRenewable, let end = transaction.expiresDate {
      row.add("expires_date", String(end.sinceEpoch))
      row.add("expires_date_formatted", SimulatedV1Date.gmt(end))
      row.add("expires_date_formatted_pst", PacificTime.text(end))
      row.add("web_order_line_item_id", transaction.webOrderLineItemID)
      row.add("is_trial_period", String(transaction.isTrialPeriod))
      row.add("is_in_intro_offer_period", String(transaction.isInIntroOfferPeriod))
      row.add("subscription_group_identifier", transaction.product.subscriptionGroupID)
    }
    row.addLegacy("cancellation_date", transaction.revocation?.date)
    row.add("cancellation_reason", transaction.revocation.map { String($0.reason) })
    row.add("item_id", isProduction ? "521129812" : "0")
    if isProduction { row.add("app_item_id", String(app.appAppleID)) }
    row.add("version_external_identifier", isProduction ? String(app.versionExternalIdentifier) : "0")
    row.add("bid", app.bundleID)
    row.add("bvrs", app.bundleVersion)
    row.add("unique_identifier", String(repeating: "0", count: 40))
    row.add("unique_vendor_identifier", "00000000-0000-0000-0000-000000000000")
    return row.object
  }
}
