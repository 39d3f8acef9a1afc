import JSON
import Signing
import Time

/// A renewal as the first generation of notifications told of it: unsigned, with a password that every app carries.
///
/// Apple: responseBodyV1; numbers written as strings, dates three times.
package struct NotificationV1: Hashable, Sendable {
  package var transaction: SimulatedTransaction
  package var app: SimulatedApp
  package var sharedSecret: String

  package init(of transaction: SimulatedTransaction, in app: SimulatedApp, sharedSecret: String) {
    self.transaction = transaction
    self.app = app
    self.sharedSecret = sharedSecret
  }

  package var body: [UInt8] {
    var body = PayloadMembers()
    body.add("notification_type", "DID_RENEW")
    body.add("password", sharedSecret)
    body.add("environment", app.environment == .production ? "PROD" : "Sandbox")
    body.add("auto_renew_product_id", transaction.product.id)
    body.add("auto_renew_status", "true")
    body.add("bid", app.bundleID)
    body.add("bvrs", app.bundleVersion)
    body.add("original_transaction_id", Int64(transaction.originalTransactionID))
    body.add("deprecation", "Mon, 5 Jun 2023 23:59:59 GMT")
    body.add("unified_receipt", .object(unifiedReceipt))
    return body.object.encoded()
  }

  private var unifiedReceipt: JSONObject {
    [
      "status": 0, "environment": .string(app.environment.rawValue), "latest_receipt_info": [.object(row)],
      "pending_renewal_info": [
        [
          "auto_renew_product_id": .string(transaction.product.id), "auto_renew_status": "1",
          "original_transaction_id": .string(transaction.originalTransactionID),
          "product_id": .string(transaction.product.id),
        ]
      ],
    ]
  }

  private var row: JSONObject {
    var row = PayloadMembers()
    row.add("quantity", "\(transaction.quantity)")
    row.add("product_id", transaction.product.id)
    row.add("transaction_id", transaction.transactionID)
    row.add("original_transaction_id", transaction.originalTransactionID)
    row.add("web_order_line_item_id", transaction.webOrderLineItemID)
    row.add("subscription_group_identifier", transaction.product.subscriptionGroupID)
    row.add("in_app_ownership_type", transaction.ownership.rawValue)
    add("purchase_date", transaction.purchaseDate, to: &row)
    add("original_purchase_date", transaction.originalPurchaseDate, to: &row)
    if let end = transaction.expiresDate { add("expires_date", end, to: &row) }
    row.add("is_trial_period", "\(transaction.offer?.discount == .freeTrial)")
    row.add("is_in_intro_offer_period", "false")
    return row.object
  }

  private func add(_ name: String, _ date: Milliseconds, to row: inout PayloadMembers) {
    let text = Milliseconds(date.wholeSeconds * 1_000).iso8601.dropLast().split(separator: "T").joined(separator: " ")
    row.add(name, "\(text) Etc/GMT")
    row.add("\(name)_ms", "\(date.sinceEpoch)")
  }
}
