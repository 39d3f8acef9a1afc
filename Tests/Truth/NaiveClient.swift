package import JSON
package import Time

/// What an old client makes of an answer of verifyReceipt: subscriptions that it lets somebody use.
///
/// It looks at the rows of `latest_receipt_info`, and at the grace periods of `pending_renewal_info`, as most clients do.
package enum NaiveClient {
  /// Returns the original_transaction_id of each subscription that runs.
  package static func running(in answer: JSONObject, at now: Timestamp) -> Set<String> {
    guard answer["status"]?.integer == 0 else { return [] }
    var rows = (answer["latest_receipt_info"]?.array ?? []).compactMap(\.object)
    // The answer to an iOS 6 receipt has one of them, or none.
    if let row = answer["latest_receipt_info"]?.object { rows.append(row) }
    let running = rows.filter { row in
      guard let end = date("expires_date_ms", row) ?? date("expires_date", row) else { return false }
      return end > now && row["cancellation_date"] == nil && row["is_upgraded"]?.string != "true"
    }
    let inGrace = (answer["pending_renewal_info"]?.array ?? []).compactMap(\.object).filter {
      date("grace_period_expires_date_ms", $0).map { $0 > now } ?? false
    }
    return Set((running + inGrace).compactMap { $0["original_transaction_id"]?.string })
  }

  private static func date(_ key: String, _ row: JSONObject) -> Timestamp? {
    row[key]?.string.flatMap { Int64($0) }.map { Timestamp($0) }
  }
}
