/// What each notificationType and subtype means: `events.tsv`.
public struct EventTable: Sendable {
  /// Where the moment of an event is read.
  public enum Moment: String, Sendable, CaseIterable {
    /// The transaction's purchaseDate.
    case purchase
    /// The transaction's expiresDate.
    case expiry
    /// The transaction's revocationDate.
    case revocation
    /// The notification's signedDate.
    case signed
  }

  public struct Row: Sendable {
    public let id: String
    public let notificationType: String
    /// Nil: no subtype.
    public let subtype: String?
    public let moment: Moment
  }

  private struct Key: Hashable {
    let type: String, subtype: String?
  }

  public let rows: [Row]
  private let byKey: [Key: Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "notificationType", "subtype", "date"])
    var rows: [Row] = []
    var byKey: [Key: Row] = [:]
    for row in table.rows {
      guard let moment = Moment(rawValue: row["date"]) else { throw .unknownWord(row: row.id, column: "date") }
      let type = row["notificationType"]
      let subtype = row["subtype"] == "-" ? nil : row["subtype"]
      let event = Row(id: row.id, notificationType: type, subtype: subtype, moment: moment)
      guard byKey.updateValue(event, forKey: Key(type: type, subtype: subtype)) == nil else {
        throw .repeatedRow(row.id)
      }
      rows.append(event)
    }
    self.rows = rows
    self.byKey = byKey
  }

  /// The row of a notification; nil for one that Apple had not documented when this was built.
  public subscript(notificationType: String, subtype: String?) -> Row? {
    byKey[Key(type: notificationType, subtype: subtype)]
  }
}
