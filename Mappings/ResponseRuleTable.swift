package import Time

/// How an answer is composed beyond its single fields: `answer-rules.tsv`.
package struct ResponseRuleTable: Sendable {
  /// What is decided.
  package enum Rule: String, Sendable, CaseIterable {
    /// The order of `in_app`.
    case inAppOrder
    /// The order of `latest_receipt_info`.
    case latestOrder
    /// Where refunded and upgraded periods stand in `latest_receipt_info`.
    case deadRows
    /// What `exclude-old-transactions` leaves in `latest_receipt_info`.
    case excludeOld
    /// Which attribute `receipt_creation_date` is.
    case creationDate
    /// Whose transaction_id and original_purchase_date a row of `latest_receipt_info` has.
    case rowIdentity
    /// Whether a refund after the receipt shows in `in_app`.
    case refundInApp
    /// What `latest_receipt` holds.
    case latestReceipt
    /// When `latest_receipt_info` and `latest_receipt` are there.
    case latestPresence
    /// What is told beside the receipt of a customer of whom Apple knows no id any more.
    case forgotten
    /// Which consumables `latest_receipt_info` has.
    case consumables
    /// Where `status` stands in the answer.
    case statusPlace
    /// Whether dates are cut to whole seconds.
    case seconds
    /// When `pending_renewal_info` is there.
    case pendingPresence
    /// What becomes of an element whose subscription was cancelled during its grace period.
    case graceCancelled
    /// When `is_in_billing_retry_period` is there.
    case retryFlag
    /// When `price_consent_status` is there.
    case consent
    /// Whether free promotional offers and offer codes count as trials.
    case trialOfOffers
    /// Which field tells of a win-back offer.
    case winBack
    /// Whether a refund in part cancels the row.
    case partRefund
    /// Whether an iOS 6 subscription in its grace period, or one that was refunded, has ended (21006).
    case flatGrace, flatRefund
    /// What the `receipt` of an iOS 6 answer is.
    case flatReceipt
    /// What a comparison with Apple's answer counts as unavailable or echoed, because nothing that V2 signs tells it.
    case restoredDate, finishedRow, blankedDevice, newReceipt
  }

  /// What a row says of its rule.
  package enum Option: String, Sendable, CaseIterable {
    case receipt, transactionIdAscending, expiryDescending, newestOfEachOriginal, newestOfEachSubscription,
      attribute8Else12, attribute12, receiptFirst, historyFirst, receiptAlone, asKnown, echo,
      withSubscription, withAnyRow, always, inReceipt, none, first, last, asStated, whole, never, elementGoes,
      elementStays, besideIntent, whenAsked, introductoryOnly, anyFreeTrial, promotionalOfferId, cancelled, notTold,
      ended, active, signedPairs, unavailable, echoed, rowsOfReceipt,
      byEnd, byPurchaseDate
  }

  package struct Row: Sendable {
    package let id: String
    package let rule: Rule
    package let reading: Option
    /// The first request it holds for; nil is no bound.
    package let since: Timestamp?
    package let isDefault: Bool
    package let standing: ResponseFieldTable.Verification
    package let evidence: String
  }

  package let rows: [Row]

  static let columns = ["id", "rule", "reading", "since", "default", "standing", "evidence"]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: Self.columns)
    var rows: [Row] = []
    for row in table.rows {
      guard let rule = Rule(rawValue: row["rule"]) else { throw .unknownWord(row: row.id, column: "rule") }
      guard let reading = Option(rawValue: row["reading"]) else {
        throw .unknownWord(row: row.id, column: "reading")
      }
      guard let standing = ResponseFieldTable.Verification(rawValue: row["standing"]) else {
        throw .unknownWord(row: row.id, column: "standing")
      }
      guard ["yes", "no"].contains(row["default"]) else { throw .unknownWord(row: row.id, column: "default") }
      let since = row["since"] == "-" ? nil : TableDate.read(row["since"])
      guard since != nil || row["since"] == "-" else { throw .unknownWord(row: row.id, column: "since") }
      guard !rows.contains(where: { $0.rule == rule && $0.reading == reading }) else { throw .repeatedRow(row.id) }
      rows.append(
        Row(
          id: row.id, rule: rule, reading: reading, since: since, isDefault: row["default"] == "yes",
          standing: standing, evidence: row["evidence"]))
    }
    for rule in Rule.allCases where !rows.contains(where: { $0.rule == rule && $0.isDefault && $0.since == nil }) {
      throw .missingRow(rule.rawValue)
    }
    self.rows = rows
  }

  package subscript(id: String) -> Row? { rows.first { $0.id == id } }

  /// The default of a rule for a request of this time.
  package func standard(_ rule: Rule, at date: Timestamp) -> Row {
    let defaults = rows.filter { $0.rule == rule && $0.isDefault && ($0.since.map { $0 <= date } ?? true) }
    guard
      let row = defaults.max(by: { ($0.since ?? Timestamp(.min)) < ($1.since ?? Timestamp(.min)) })
    else { preconditionFailure("answer-rules.tsv has no default of \(rule.rawValue); a test loads every table") }
    return row
  }
}
