import Purchases

/// What a V2 notification is called for those who still want V1: `v2-events-to-v1.tsv`.
public struct EventToV1Table: Sendable {
  /// What must be known of the purchase.
  public enum Condition: String, Sendable, CaseIterable {
    case always
    /// By `inAppOwnershipType`; absent is purchased.
    case purchased, familyShared
    /// By `type`.
    case subscription, otherProduct, consumable, notConsumable
  }

  /// What the top of a DID_CHANGE_RENEWAL_STATUS says.
  public enum AutoRenewStatus: String, Sendable, CaseIterable {
    case on = "true"
    case off = "false"
    /// What the renewal itself says.
    case renewal
  }

  public struct Row: Sendable {
    public let id: String
    public let notificationType: String
    public let subtype: String?
    public let condition: Condition
    /// In the order in which Apple sent them; empty: V1 has no word for it.
    public let typesV1: [String]
    /// Nil where none of them tells it.
    public let autoRenewStatus: AutoRenewStatus?
  }

  public let rows: [Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(
      bytes,
      columns: ["id", "notificationType", "subtype", "condition", "notificationTypesV1", "autoRenewStatus"])
    var rows: [Row] = []
    for row in table.rows {
      guard let condition = Condition(rawValue: row["condition"]) else {
        throw .unknownWord(row: row.id, column: "condition")
      }
      let status = AutoRenewStatus(rawValue: row["autoRenewStatus"])
      guard status != nil || row["autoRenewStatus"] == "-" else {
        throw .unknownWord(row: row.id, column: "autoRenewStatus")
      }
      let types = row["notificationTypesV1"] == "-" ? [] : row["notificationTypesV1"].split(separator: " ")
      let made = Row(
        id: row.id, notificationType: row["notificationType"], subtype: row["subtype"] == "-" ? nil : row["subtype"],
        condition: condition, typesV1: types.map(String.init), autoRenewStatus: status)
      let isRepeated = rows.contains {
        $0.notificationType == made.notificationType && $0.subtype == made.subtype && $0.condition == condition
      }
      guard !isRepeated else { throw .repeatedRow(row.id) }
      rows.append(made)
    }
    self.rows = rows
  }

  /// The rows of a V2 notification: one, or one for each of two conditions of which one holds; none for what is unknown.
  public subscript(notificationType: String, subtype: String?) -> [Row] {
    rows.filter { $0.notificationType == notificationType && $0.subtype == subtype }
  }
}
