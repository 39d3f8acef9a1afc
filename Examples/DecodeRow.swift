import JSON
import Wire

/// Decodes a V1 notification: its fields by type, and what in it no documentation names.
func decodeRow() throws -> (productID: String?, news: [String]) {
  let text = """
    {"notification_type": "CANCEL", "bid": "com.example.notes", "cancellation_date_ms": "1767700000000",
      "auto_renew_product_id": "plus.monthly", "brand_new_field": 1}
    """
  let body = V1NotificationBody(try JSONReader.read(Array(text.utf8)).object ?? [:])
  return (body.autoRenewProductID, body.survey().unknownFields)
}
