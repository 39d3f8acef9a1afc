package import JSON
package import Signing
package import Time

/// A V1 notification: unsigned, with the app's password, and without its own ID or time.
///
/// Apple: responseBodyV1.
package struct SimulatedV1Notification: Sendable {
  /// The largest number of rows in `unified_receipt`.
  package static let rows = 100

  package var notificationType: String
  package var sharedSecret: String
  package var era: V1Era
  package var state: CustomerState
  /// The date of the event, which V1 sends only for some types.
  package var date: Timestamp
  /// The transaction of the event, which V1 names only for CANCEL.
  package var transaction: SimulatedTransaction
  package var subscription: WorldSubscription?

  package init(
    _ notificationType: String, about transaction: SimulatedTransaction, _ subscription: WorldSubscription?,
    of state: CustomerState, at date: Timestamp, sharedSecret: String, era: V1Era = .current
  ) {
    self.notificationType = notificationType
    self.sharedSecret = sharedSecret
    self.era = era
    self.state = state
    self.date = Timestamp(date.wholeSeconds * 1_000)
    self.transaction = transaction
    self.subscription = subscription
  }

  package var latestReceipt: SimulatedReceipt { state.receipt }

  /// Creates the body with a receipt that `pki` signs.
  package func body(signedBy pki: ReceiptPKI) throws(CertificateError) -> [UInt8] {
    body(latestReceipt: try latestReceipt.encoded(signedBy: pki))
  }

  /// - Parameter latestReceipt: `latestReceipt`, signed and in base64; empty leaves it out.
  package func body(latestReceipt: [UInt8] = []) -> [UInt8] { object(latestReceipt: latestReceipt).encoded() }

  package func object(latestReceipt: [UInt8]) -> JSONObject {
    let receipt = latestReceipt.isEmpty ? nil : String(decoding: latestReceipt, as: UTF8.self)
    var body = PayloadMembers()
    body.add("notification_type", notificationType)
    body.add("password", sharedSecret)
    body.add("environment", state.app.environment == .production ? "PROD" : "Sandbox")
    if let subscription {
      body.add("auto_renew_product_id", subscription.renewal.nextProduct.id)
      body.add("auto_renew_status", String(subscription.renewal.willRenew))
    }
    if notificationType == "DID_CHANGE_RENEWAL_STATUS" { body.addLegacy("auto_renew_status_change_date", date) }
    if notificationType == "CANCEL" {
      body.addLegacy("cancellation_date", transaction.revocation?.date ?? date)
      body.add("web_order_line_item_id", transaction.webOrderLineItemID)
    }
    if era.hasBundle {
      body.add("bid", state.app.bundleID)
      body.add("bvrs", state.app.bundleVersion)
    }
    if era.hasOriginalTransactionID { body.add("original_transaction_id", Int64(transaction.originalTransactionID)) }
    if era.hasDeprecation { body.add("deprecation", "Mon, 5 Jun 2023 23:59:59 GMT") }
    if era.hasDeprecatedFields, let latest {
      let isExpired = subscription.map { $0.status != 1 } ?? false
      body.add(isExpired ? "latest_expired_receipt" : "latest_receipt", receipt)
      body.add(
        isExpired ? "latest_expired_receipt_info" : "latest_receipt_info",
        .object(TransactionReceiptAnswer.flat(latest, in: state.app)))
    }
    if era.hasUnifiedReceipt { body.add("unified_receipt", .object(unifiedReceipt(receipt))) }
    return body.object
  }

  private var latest: SimulatedReceipt.Purchase? {
    state.latestPurchases.first { $0.transaction.originalTransactionID == transaction.originalTransactionID }
  }

  private func unifiedReceipt(_ latestReceipt: String?) -> JSONObject {
    let rows = state.latestByEnd.prefix(Self.rows)
    var receipt = PayloadMembers()
    receipt.add("status", 0 as Int64)
    receipt.add("environment", state.app.environment == .production ? "Production" : "Sandbox")
    receipt.add(
      "latest_receipt_info", .array(rows.map { .object(SimulatedV1Row($0, in: .latestReceiptInfo, era: era).object) }))
    receipt.add("latest_receipt", latestReceipt)
    if !state.subscriptions.isEmpty {
      receipt.add("pending_renewal_info", .array(state.legacyRenewals.map { .object($0) }))
    }
    return receipt.object
  }
}
