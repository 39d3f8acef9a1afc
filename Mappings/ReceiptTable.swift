package import Purchases

/// What the attributes and keys of receipts mean: `receipt-fields.tsv`.
package struct ReceiptTable: Sendable {
  /// How a value becomes a fact.
  package enum Form: String, Sendable, CaseIterable {
    case text, integer, date, productType, introductory, freeTrial, promotional
  }

  package struct Row: Sendable {
    package let id: String
    /// Of app receipts; nil where they do not have it.
    package let attribute: Int64?
    /// Of iOS 6 receipts; nil where they do not have it.
    package let key: String?
    package let field: PurchaseField
    package let form: Form
  }

  package let rows: [Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "attribute", "key", "field", "form"])
    var rows: [Row] = []
    for row in table.rows {
      guard let field = PurchaseField(name: row["field"]) else { throw .unknownWord(row: row.id, column: "field") }
      guard let form = Form(rawValue: row["form"]) else { throw .unknownWord(row: row.id, column: "form") }
      let attribute = Int64(row["attribute"])
      guard attribute != nil || row["attribute"] == "-" else {
        throw .unknownWord(row: row.id, column: "attribute")
      }
      let key = row["key"] == "-" ? nil : row["key"]
      let isRepeated = rows.contains { other in
        other.field == field && ((attribute != nil && other.attribute == attribute) || (key != nil && other.key == key))
      }
      guard !isRepeated else { throw .repeatedRow(row.id) }
      rows.append(Row(id: row.id, attribute: attribute, key: key, field: field, form: form))
    }
    self.rows = rows
  }
}
