/// A fault of the composer: one cell of its tables has another value.
///
/// The tables are data of the product, read by the initializers that the product uses. Nothing in them knows of faults.
struct ComposingFault: Sendable, Hashable, CustomStringConvertible {
  let row: String
  let column: String
  let value: String
  var description: String { "\(row) \(column)=\(value)" }

  /// The faults of `FaultyAdvanceTests`, which tries the first four.
  ///
  /// Of these the first and the third change access.
  static let seeded = faults([
    // Each renewal looks like a purchase of its own.
    ("latest original_transaction_id", "field", "transactionId"),
    // A number in quotation marks.
    ("receipt adam_id", "form", "text"),
    // A response without a status, so a client reads nothing.
    ("answer status", "until", "2021-01-01"),
    // "true" instead of "1".
    ("pending auto_renew_status", "form", "number"),
    // receipt and in_app
    ("receipt bundle_id", "attribute", "3"), ("receipt version_external_identifier", "attribute", "15"),
    ("receipt original_purchase_date", "attribute", "12"), ("inApp quantity", "form", "number"),
    ("inApp product_id", "attribute", "1703"), ("inApp original_transaction_id", "attribute", "1703"),
    ("inApp transaction_id", "attribute", "1705"), ("inApp purchase_date", "attribute", "1706"),
    ("inApp expires_date", "until", "2020-01-01"), ("inApp is_trial_period", "attribute", "1719"),
    ("inApp in_app_ownership_type", "form", "text"),
    // latest_receipt_info
    ("latest product_id", "field", "subscriptionGroupIdentifier"), ("latest transaction_id", "order", "VAR"),
    ("latest original_purchase_date", "order", "VAR"), ("latest purchase_date", "field", "originalPurchaseDate"),
    ("latest expires_date", "order", "R"), ("latest expires_date", "field", "purchaseDate"),
    ("latest cancellation_date", "field", "purchaseDate"), ("latest cancellation_date", "since", "2030-01-01"),
    ("latest web_order_line_item_id", "field", "transactionId"), ("latest quantity", "field", "price"),
    ("latest in_app_ownership_type", "since", "2030-01-01"), ("latest is_trial_period", "when", "subscription"),
    ("latest is_trial_period", "form", "intro"), ("latest is_upgraded", "until", "2021-01-01"),
    ("latest subscription_group_identifier", "since", "2030-01-01"),
    ("latest app_account_token", "field", "transactionId"),
    // pending_renewal_info
    ("pending grace_period_expires_date", "since", "2030-01-01"),
    ("pending auto_renew_product_id", "field", "productId"), ("pending is_in_billing_retry_period", "form", "text"),
    // iOS 6
    ("flat expires_date", "field", "purchaseDate"), ("flatAnswer expiration_intent", "since", "2030-01-01"),
    // Rules
    ("Y-004", "reading", "newestOfEachSubscription"), ("Y-037", "reading", "active"), ("Y-022", "since", "2030-01-01"),
    ("Y-024", "since", "2030-01-01"),
  ])

  static let all =
    seeded
    + faults([
      ("receipt original_application_version", "attribute", "3"), ("inApp is_in_intro_offer_period", "when", "always"),
      ("inApp web_order_line_item_id", "form", "number"), ("inApp cancellation_reason", "attribute", "1701"),
      ("latest is_in_intro_offer_period", "form", "trial"), ("latest is_in_intro_offer_period", "when", "always"),
      ("latest promotional_offer_id", "form", "text"), ("latest offer_code_ref_name", "form", "text"),
      ("pending price_increase_status", "since", "2030-01-01"), ("flat expires_date", "form", "date"),
      ("flat is_trial_period", "since", "-"), ("flat bvrs", "attribute", "bid"),
      ("flatAnswer auto_renew_status", "form", "switch"), ("flatAnswer auto_renew_product_id", "when", "known"),
      ("Y-003", "reading", "transactionIdAscending"), ("Y-003", "since", "2015-01-01"), ("Y-017", "reading", "none"),
      ("Y-031", "reading", "anyFreeTrial"), ("Y-010", "reading", "asKnown"), ("Y-033", "reading", "promotionalOfferId"),
    ])

  private static func faults(_ cells: [(String, String, String)]) -> [Self] {
    cells.map { Self(row: $0.0, column: $0.1, value: $0.2) }
  }

  /// Whether a row has this cell with another value.
  var changesCell: Bool {
    [MappingTable.answerFields, .answerRules].contains { table in
      table.embedded.rows.contains { isMeant($0) && $0[column] != value }
    }
  }

  /// The rules with a fault; without one, the sound rules.
  static func rules(_ fault: Self?) throws -> ComposerRules {
    let (fields, rules) = (MappingTable.answerFields, MappingTable.answerRules)
    return try ComposerRules(
      fields: try ResponseFieldTable(fault?.edited(fields) ?? fields.bytes),
      rules: try ResponseRuleTable(fault?.edited(rules) ?? rules.bytes), choosing: ["Y-016"])
  }

  /// The table with the cell changed.
  ///
  /// Two readings of one rule are exchanged.
  private func edited(_ table: MappingTable) -> [UInt8] {
    let embedded = table.embedded
    var text = embedded.columns.joined(separator: "\t") + "\n"
    let faulty = embedded.rows.first(where: isMeant)
    for row in embedded.rows {
      var cells = embedded.columns.map { row[$0] }
      if let faulty, let place = embedded.columns.firstIndex(of: column) {
        if row.id == faulty.id {
          cells[place] = value
        } else if column == "reading", row["rule"] == faulty["rule"], row["reading"] == value {
          cells[place] = faulty["reading"]
        }
      }
      text += cells.joined(separator: "\t") + "\n"
    }
    return Array(text.utf8)
  }

  private func isMeant(_ row: Table.Row) -> Bool {
    row.id == self.row || (row["place"] != "" && "\(row["place"]) \(row["key"])" == self.row)
  }
}
