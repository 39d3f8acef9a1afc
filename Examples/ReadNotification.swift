import Adapter
import JSON
import Receipts
import Signing
import Time

/// Says in the words of V2 what a V1 notification tells of, which nobody signed.
func readNotification() throws -> JSONObject {
  let body = """
    {"notification_type": "DID_RENEW", "environment": "Sandbox", "bid": "com.example.notes", "unified_receipt": {
      "environment": "Sandbox", "status": 0, "latest_receipt_info": [{
        "product_id": "plus.monthly", "transaction_id": "2000000000000002",
        "original_transaction_id": "2000000000000001", "web_order_line_item_id": "2000000000000009",
        "purchase_date_ms": "1767600000000", "expires_date_ms": "1770278400000", "quantity": "1"}]}}
    """
  let conversion = Conversion(
    verifier: SignedDataVerifier(roots: .apple), receipts: ReceiptReader(), allowsUnsigned: true)
  let converted = try conversion.read(Array(body.utf8), now: Timestamp(1_767_600_060_000))
  return CanonicalDocument(converted).json
}
