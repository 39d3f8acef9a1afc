package import Purchases

/// What V1 lets suppose without stating it: `inferences.tsv`.
package struct InferenceTable: Sendable {
  /// When it may be supposed; the head of the table says what each means.
  package enum Condition: String, Sendable, CaseIterable {
    case hasSubscriptionMarks, ownershipAbsent, isOriginalTransaction, isNoSubscription, replacesUpgraded,
      longAfterPrevious, followsPrevious, replacedByNext
  }

  package struct Row: Sendable {
    package let id: String
    package let field: PurchaseField
    package let value: String
    package let condition: Condition
  }

  package let rows: [Row]
  private let byCondition: [Condition: Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "field", "value", "condition"])
    var rows: [Row] = []
    var byCondition: [Condition: Row] = [:]
    for row in table.rows {
      guard let field = PurchaseField(name: row["field"]) else { throw .unknownWord(row: row.id, column: "field") }
      guard let condition = Condition(rawValue: row["condition"]) else {
        throw .unknownWord(row: row.id, column: "condition")
      }
      let isUsable = field.kind == .text || (field.kind == .flag && ["true", "false"].contains(row["value"]))
      guard isUsable else { throw .unknownWord(row: row.id, column: "value") }
      let made = Row(id: row.id, field: field, value: row["value"], condition: condition)
      guard byCondition.updateValue(made, forKey: condition) == nil else { throw .repeatedRow(row.id) }
      rows.append(made)
    }
    if let missing = Condition.allCases.first(where: { byCondition[$0] == nil }) { throw .missingRow(missing.rawValue) }
    self.rows = rows
    self.byCondition = byCondition
  }

  /// The row of a condition; nil never, once the table is loaded.
  package subscript(condition: Condition) -> Row? { byCondition[condition] }
}
