/// What an answer gives a client access to, read from its JSON by nothing but the words of Apple's page.
///
/// It shares no code with the product's own reading of impact, which is held against it: uncancelled and not upgraded; until
/// the expiry or the end of the grace period, against now; what does not expire for ever, and how much of it.
enum AccessSeen {
  /// By original_transaction_id and product, until when, or how much for ever; nothing that is over.
  static func access(in answer: JSONObject, at now: Timestamp) -> [String: String] {
    guard answer["status"]?.integer == 0 else { return [:] }
    let posted = (answer["receipt"]?.object?["in_app"]?.array ?? []).compactMap(\.object)
    let latest = (answer["latest_receipt_info"]?.array ?? []).compactMap(\.object)
    // The answer to an iOS 6 receipt has one object in place of the rows, none when it is over.
    if let row = answer["latest_receipt_info"]?.object { return running([row], [], at: now) }
    if answer["receipt"]?.object?["in_app"] == nil {
      let isOver = answer["latest_expired_receipt_info"] != nil
      return isOver ? [:] : running([answer["receipt"]?.object].compactMap(\.self), [], at: now)
    }
    // What the newer rows tell of a purchase counts in place of what the receipt says.
    let told = Set(latest.map { purchase(of: $0) })
    let rows = latest + posted.filter { !told.contains(purchase(of: $0)) }
    return running(rows, (answer["pending_renewal_info"]?.array ?? []).compactMap(\.object), at: now)
  }

  /// Whether a client has other access by one answer than by the other, also one that reads the first row alone.
  static func differs(_ a: JSONObject, _ b: JSONObject, at now: Timestamp) -> Bool {
    if access(in: a, at: now) != access(in: b, at: now) { return true }
    guard let one = firstEnd(in: a), let other = firstEnd(in: b) else { return false }
    return max(one, now.wholeSeconds) != max(other, now.wholeSeconds)
  }

  /// When the first of the newer rows ends; 0: it was taken back.
  private static func firstEnd(in answer: JSONObject) -> Int64? {
    guard answer["status"]?.integer == 0, let row = answer["latest_receipt_info"]?.array?.first?.object,
      let end = seconds("expires_date", row)
    else { return nil }
    return isTaken(row) ? 0 : end
  }

  private static func running(
    _ rows: [JSONObject], _ renewals: [JSONObject], at now: Timestamp
  ) -> [String: String] {
    var (ends, amounts): ([String: Int64], [String: String]) = ([:], [:])
    for row in rows where !isTaken(row) {
      let key = "\(text("original_transaction_id", row) ?? text("transaction_id", row) ?? "") \(product(of: row))"
      if let end = seconds("expires_date", row) {
        ends[key] = max(ends[key] ?? end, end)
      } else {
        amounts[key] = "for ever, \(text("quantity", row) ?? "1")"
      }
    }
    for renewal in renewals {
      guard let end = seconds("grace_period_expires_date", renewal), let id = text("original_transaction_id", renewal)
      else { continue }
      for key in ends.keys where key.hasPrefix("\(id) ") {
        guard renewal["product_id"] == nil || key == "\(id) \(product(of: renewal))" else { continue }
        ends[key] = max(ends[key] ?? end, end)
      }
    }
    let current = ends.filter { $0.value > now.wholeSeconds }.mapValues { "until \($0)" }
    return current.merging(amounts) { $1 }
  }

  private static func isTaken(_ row: JSONObject) -> Bool {
    row["cancellation_date"] != nil || row["cancellation_date_ms"] != nil || text("is_upgraded", row) == "true"
  }

  /// By which a row of the receipt and one of the newer rows are known as one purchase.
  private static func purchase(of row: JSONObject) -> String {
    if let line = text("web_order_line_item_id", row) { return "line \(line)" }
    let id = text("original_transaction_id", row) ?? text("transaction_id", row) ?? ""
    return "\(id) \(seconds("expires_date", row) == nil ? 0 : seconds("purchase_date", row) ?? 0)"
  }

  private static func product(of row: JSONObject) -> String { text("product_id", row) ?? "" }

  private static func text(_ key: String, _ row: JSONObject) -> String? {
    row[key].flatMap { value in value.string ?? value.integer.map { "\($0)" } }
  }

  /// A date in whole seconds: with milliseconds beside it, or of iOS 6, whose one form they are.
  private static func seconds(_ key: String, _ row: JSONObject) -> Int64? {
    let date = text("\(key)_ms", row).flatMap { Int64($0) } ?? text(key, row).flatMap { Int64($0) }
    return date.map { Timestamp($0).wholeSeconds }
  }
}
