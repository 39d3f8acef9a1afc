import Purchases

/// What each V1 notification means in V2's words: `v1-events.tsv`.
public struct V1EventTable: Sendable {
  /// What must stand in the body; the head of the table says what each means.
  public enum Condition: String, Sendable, CaseIterable {
    case always, replacedPrevious, afterLapse, firstPurchase, offerWhileActive, otherProductNext, sameProductNext,
      companionOfPurchase, companionOfRefund, switchedOn, switchedOff, endedByCustomer, endedByBilling, endedByPrice,
      endedByProduct, endedOtherwise, upgraded, refunded, inGracePeriod, retryEnded, inRetry, consented,
      consentPending
  }

  /// Where the moment of an event is read.
  public enum Moment: String, Sendable, CaseIterable {
    /// The row's purchase, end or cancellation.
    case purchase, expiry, revocation
    /// `auto_renew_status_change_date`.
    case change
    /// The as-of of the body: V1 tells no other time.
    case asOf
  }

  public struct Row: Sendable {
    public let id: String
    public let typeV1: String
    public let condition: Condition
    /// Nil: a companion of another message, which gives no event of its own.
    public let event: Meaning?
  }

  public struct Meaning: Sendable {
    public let notificationType: String
    public let subtype: String?
    public let moment: Moment
  }

  public let rows: [Row]
  private let byType: [String: [Row]]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(
      bytes, columns: ["id", "notificationTypeV1", "condition", "notificationType", "subtype", "date"])
    var rows: [Row] = []
    for row in table.rows {
      guard let condition = Condition(rawValue: row["condition"]) else {
        throw .unknownWord(row: row.id, column: "condition")
      }
      let typeV1 = row["notificationTypeV1"]
      guard !rows.contains(where: { $0.typeV1 == typeV1 && $0.condition == condition }) else {
        throw .repeatedRow(row.id)
      }
      rows.append(Row(id: row.id, typeV1: typeV1, condition: condition, event: try Self.meaning(row)))
    }
    self.rows = rows
    byType = Dictionary(grouping: rows, by: \.typeV1)
  }

  /// The rows of a V1 type; none for one that Apple did not document.
  public subscript(typeV1: String) -> [Row] { byType[typeV1] ?? [] }

  private static func meaning(_ row: Table.Row) throws(Table.Malformed) -> Meaning? {
    if row["notificationType"] == "-" {
      guard row["subtype"] == "-", row["date"] == "-" else { throw .unknownWord(row: row.id, column: "date") }
      return nil
    }
    guard let moment = Moment(rawValue: row["date"]) else { throw .unknownWord(row: row.id, column: "date") }
    return Meaning(
      notificationType: row["notificationType"], subtype: row["subtype"] == "-" ? nil : row["subtype"], moment: moment)
  }
}
