/// Forty faults of the composer, in every table that it works by and in every kind of column.
enum SeededFaults {
  typealias Fault = `A fault in a rule of composing`.Fault

  /// Twenty faults beside those of `Twenty faults of the composer`.
  ///
  /// The first four are the ones that tests try by default: of the four, the first and the third change access.
  private static let others: [Fault] = [
    // Each renewal looks like a purchase of its own.
    ("latest original_transaction_id", "field", "transactionId"),
    // A number in quotation marks.
    ("receipt adam_id", "form", "text"),
    // No status, so a client reads nothing.
    ("answer status", "until", "2021-01-01"),
    // "true" in place of "1".
    ("pending auto_renew_status", "form", "number"),
    // What the receipt says.
    ("receipt bundle_id", "attribute", "3"), ("receipt version_external_identifier", "attribute", "15"),
    ("inApp quantity", "form", "number"), ("inApp product_id", "attribute", "1703"),
    ("inApp original_transaction_id", "attribute", "1703"),
    // What is known beside it.
    ("latest expires_date", "order", "R"), ("latest cancellation_date", "field", "purchaseDate"),
    ("latest web_order_line_item_id", "field", "transactionId"), ("latest quantity", "field", "price"),
    ("latest in_app_ownership_type", "since", "2030-01-01"), ("latest is_trial_period", "when", "subscription"),
    ("pending grace_period_expires_date", "since", "2030-01-01"),
    // iOS 6.
    ("flat expires_date", "field", "purchaseDate"), ("flatAnswer expiration_intent", "since", "2030-01-01"),
    // Beyond single fields.
    ("Y-022", "since", "2030-01-01"), ("Y-024", "since", "2030-01-01"),
  ].map { Fault(row: $0.0, column: $0.1, value: $0.2) }

  static let all: [Fault] = others + `Twenty faults of the composer`.faults
}
