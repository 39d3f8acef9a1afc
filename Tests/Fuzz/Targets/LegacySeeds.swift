import JSON

/// What fuzzing of the old generation begins with: one body of each kind and shape.
enum LegacySeeds {
  private static let row: JSONObject = [
    "quantity": "1", "product_id": "pro", "transaction_id": "1001", "original_transaction_id": "1000",
    "purchase_date": "2020-11-25 08:31:02 Etc/GMT", "purchase_date_ms": "1606293062000",
    "expires_date_ms": "1608885062000", "web_order_line_item_id": "91001", "is_trial_period": "true",
    "is_in_intro_offer_period": "false", "is_upgraded": "true", "cancellation_date_ms": "1606293063000",
    "cancellation_reason": "0", "offer_code_ref_name": "spring",
  ]

  private static let renewal: JSONObject = [
    "product_id": "pro", "original_transaction_id": "1000", "auto_renew_product_id": "max", "auto_renew_status": "0",
    "expiration_intent": "2", "is_in_billing_retry_period": "1", "grace_period_expires_date_ms": "1609885062000",
    "price_consent_status": "0",
  ]

  private static let notification: JSONObject = [
    "notification_type": "DID_CHANGE_RENEWAL_STATUS", "password": "s", "environment": "PROD", "bid": "com.example.fuzz",
    "auto_renew_status": "false", "auto_renew_status_change_date_ms": "1606293063000", "expiration_intent": 2,
    "original_transaction_id": 1000, "web_order_line_item_id": "91001", "cancellation_date_ms": "1606293063000",
    "latest_receipt_info": .object(row),
    "unified_receipt": [
      "status": "OK", "environment": "Production", "latest_receipt": "MIIB", "latest_receipt_info": [.object(row)],
      "pending_renewal_info": [.object(renewal)],
    ],
  ]

  private static let answer: JSONObject = [
    "status": 0, "environment": "Sandbox",
    "receipt": [
      "receipt_type": "ProductionSandbox", "bundle_id": "com.example.fuzz", "request_date_ms": "1606293064000",
      "in_app": [.object(row)],
    ],
    "latest_receipt_info": [.object(row)], "pending_renewal_info": [.object(renewal)], "latest_receipt": "ewo=",
  ]

  private static let flat: JSONObject = [
    "status": 21006, "auto_renew_status": 0, "receipt": ["bid": "com.example.fuzz", "transaction_id": "1"],
    "latest_expired_receipt_info": .object(row),
  ]

  static func all() -> [[UInt8]] {
    let id: JSONObject = ["originalTransactionId": "1000", "userId": "u"]
    return [
      [0] + notification.encoded(), [1] + answer.encoded(), [1] + flat.encoded(), [2] + answer.encoded(),
      [2] + notification.encoded(), [2] + id.encoded(),
    ]
  }
}
