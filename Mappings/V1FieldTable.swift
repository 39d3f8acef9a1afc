package import Purchases

/// What the keys of the old generation mean: `v1-transaction-fields.tsv` and `v1-renewal-fields.tsv`.
package struct V1FieldTable<Field: FactField>: Sendable {
  /// How a value becomes a fact; the heads of the tables say what each means.
  package enum Form: String, Sendable, CaseIterable {
    case text, integer, flag, date, revocation, revocationReason, introductory, freeTrial, promotional, offerCode,
      offerCodeName
    case switched = "switch"
    case consent
  }

  package struct Row: Sendable {
    package let id: String
    /// In a row; of a date the name to which `_ms` and `_pst` are added.
    package let key: String
    /// At the top of a notification or of an iOS 6 answer; nil where it does not stand there.
    package let top: String?
    package let field: Field
    package let form: Form
    /// Its number in the table, below 64.
    package let place: Int
  }

  /// What one key of a row says.
  package struct Meaning: Sendable {
    package let rows: [Row]
    /// Whether it is a written date, of use only where the milliseconds are missing.
    package let isSecondChoice: Bool
    /// The places of the rows, one bit for each.
    package let places: UInt64

    init(_ rows: [Row], isSecondChoice: Bool) {
      self.rows = rows
      self.isSecondChoice = isSecondChoice
      places = rows.reduce(0) { $0 | 1 << UInt64($1.place) }
    }
  }

  package let rows: [Row]
  private let meanings: [String: Meaning]

  package init(_ bytes: [UInt8], hasTop: Bool) throws(Table.Malformed) {
    let columns = hasTop ? ["id", "key", "top", "field", "form"] : ["id", "key", "field", "form"]
    let table = try Table(bytes, columns: columns)
    var rows: [Row] = []
    for row in table.rows {
      guard let field = Field(name: row["field"]) else { throw .unknownWord(row: row.id, column: "field") }
      guard let form = Form(rawValue: row["form"]) else { throw .unknownWord(row: row.id, column: "form") }
      let top = row["top"]
      guard !rows.contains(where: { $0.key == row["key"] && $0.field == field }) else { throw .repeatedRow(row.id) }
      rows.append(
        Row(
          id: row.id, key: row["key"], top: top == "-" || top == "" ? nil : top, field: field, form: form,
          place: rows.count))
    }
    self.rows = rows
    meanings = Self.meanings(rows)
  }

  /// What a row's key says; nil for one that is no fact.
  package subscript(key: String) -> Meaning? { meanings[key] }

  private static func meanings(_ rows: [Row]) -> [String: Meaning] {
    var meanings: [String: Meaning] = [:]
    for (key, rows) in Dictionary(grouping: rows, by: \.key) {
      let isDate = rows.contains { $0.form == .date || $0.form == .revocation }
      meanings[key] = Meaning(rows, isSecondChoice: isDate)
      guard isDate else { continue }
      meanings["\(key)_ms"] = Meaning(rows, isSecondChoice: false)
      for form in ["_formatted", "_pst", "_formatted_pst"] {
        meanings[key + form] = Meaning(rows, isSecondChoice: true)
      }
    }
    return meanings
  }
}
