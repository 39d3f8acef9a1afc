package import Purchases
package import Time

/// The fields of a composed verifyReceipt answer: `answer-fields.tsv`.
package struct ResponseFieldTable: Sendable {
  /// The object that has the field; the head of the table describes each.
  package enum Container: String, Sendable, CaseIterable {
    case answer, flatAnswer, receipt, inApp, latest, pending, flat
  }

  /// Where a value may come from.
  package enum Origin: Character, Sendable, CaseIterable {
    /// The posted receipt.
    case receipt = "R"
    /// An earlier answer of Apple's about the same row.
    case answered = "A"
    /// Signed V2 data.
    case signed = "V"
    /// Composed: the request, the time, a decision.
    case composed = "C"
    /// The posted receipt itself, given back.
    case echoed = "E"
  }

  /// How a value is made.
  package enum Form: String, Sendable, CaseIterable {
    /// A JSON string; whole numbers are written out.
    case text
    /// A JSON number.
    case number
    /// "true" or "false"; nothing known is "false".
    case flag
    /// "1" or "0".
    case switched = "switch"
    /// Three strings: GMT, milliseconds, Pacific time.
    case date
    /// The receipt's date of creation; rule creationDate.
    case creation
    /// The time of the request, with its milliseconds.
    case requested
    /// Milliseconds in the key itself, and two written dates: iOS 6.
    case flatDate
    /// PURCHASED or FAMILY_SHARED; a receipt says 0 or 1.
    case ownership
    /// The id and the original date of a row; rule rowIdentity.
    case transactionId, originalDate
    /// The introductory offer: a free trial, or one that is paid.
    case trial, intro
    /// The identifier of an offer of type 2, of type 3.
    case promotional, offerCode
    /// Not for consumables, and not where an upgrade replaced the purchase.
    case cancellation, cancellationReason
    /// "true", or nothing.
    case upgraded
    /// The group of the row, else of another row of the same originalTransactionId.
    case group
    /// Only while nothing newer has begun: rule retryFlag for the second.
    case intent, retry, grace
    /// Rule consent.
    case consent
    /// A pair that iOS 6 signed, verbatim.
    case pair
    /// The same for the product that was sent, else what Apple once answered.
    case itemId
    case status, environment, latestReceipt
  }

  /// When the field is there at all.
  package enum Presence: String, Sendable, CaseIterable {
    case always, known, subscription, active, ended
  }

  /// How far a row is proven.
  package enum Verification: String, Sendable, CaseIterable {
    case real, apple, open
  }

  package struct Row: Sendable {
    package let id: String
    package let place: Container
    /// Of a date the name to which `_ms` and `_pst` are added.
    package let key: String
    /// Of a transaction; nil for another place or without one.
    package let purchaseField: PurchaseField?
    /// Of a renewal; nil for another place or without one.
    package let renewalField: RenewalField?
    /// Of an app receipt or of a purchase in it.
    package let attribute: Int64?
    /// Signed in an iOS 6 receipt.
    package let signedKey: String?
    package let order: [Origin]
    package let form: Form
    package let presence: Presence
    /// The first request that has the field, and the first that no longer has it; nil is no bound.
    package let since: Timestamp?
    package let until: Timestamp?
    package let standing: Verification
    package let evidence: String

    /// Whether a request of this time has the field.
    package func holds(at date: Timestamp) -> Bool {
      (since.map { $0 <= date } ?? true) && (until.map { date < $0 } ?? true)
    }
  }

  package let rows: [Row]

  static let columns = [
    "id", "place", "key", "field", "attribute", "order", "form", "when", "since", "until", "standing", "evidence",
  ]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: Self.columns)
    var rows: [Row] = []
    for row in table.rows {
      let made = try Self.row(row)
      guard !rows.contains(where: { $0.place == made.place && $0.key == made.key }) else { throw .repeatedRow(row.id) }
      rows.append(made)
    }
    self.rows = rows
  }

  private static func row(_ row: Table.Row) throws(Table.Malformed) -> Row {
    func word<Word: RawRepresentable<String>>(_ column: String) throws(Table.Malformed) -> Word {
      guard let word = Word(rawValue: row[column]) else { throw .unknownWord(row: row.id, column: column) }
      return word
    }
    func date(_ column: String) throws(Table.Malformed) -> Timestamp? {
      if row[column] == "-" { return nil }
      guard let date = TableDate.read(row[column]) else { throw .unknownWord(row: row.id, column: column) }
      return date
    }
    let place: Container = try word("place")
    let isRenewal = place == .pending || place == .flatAnswer
    let purchase = isRenewal ? nil : PurchaseField(name: row["field"])
    let renewal = isRenewal ? RenewalField(name: row["field"]) : nil
    guard purchase != nil || renewal != nil || row["field"] == "-" else {
      throw .unknownWord(row: row.id, column: "field")
    }
    let attribute = Int64(row["attribute"])
    let signed = place == .flat && row["attribute"] != "-" ? row["attribute"] : nil
    guard attribute != nil || signed != nil || row["attribute"] == "-" else {
      throw .unknownWord(row: row.id, column: "attribute")
    }
    let order = row["order"].compactMap(Origin.init(rawValue:))
    guard !order.isEmpty, order.count == row["order"].count else { throw .unknownWord(row: row.id, column: "order") }
    return Row(
      id: row.id, place: place, key: row["key"], purchaseField: purchase, renewalField: renewal, attribute: attribute,
      signedKey: signed, order: order, form: try word("form"), presence: try word("when"), since: try date("since"),
      until: try date("until"), standing: try word("standing"), evidence: row["evidence"])
  }

  /// The rows of one object, in the order in which it has its fields, at the time of a request.
  package func rows(_ place: Container, at date: Timestamp) -> [Row] {
    rows.filter { $0.place == place && $0.holds(at: date) }
  }
}
