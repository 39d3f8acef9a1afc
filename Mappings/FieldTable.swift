package import Purchases

/// The fields of a purchase or a renewal: `transaction-fields.tsv`, `renewal-fields.tsv`.
package struct FieldTable<Field: FactField>: Sendable {
  package let rules: FoldRules<Field>
  /// Names that say whose and when a payload is, no fact of the thing itself.
  package let envelope: Set<String>
  private let fields: [String: Field]

  package init(_ table: Table) throws(Table.Malformed) {
    var rules: [Field: FoldRules<Field>.Rule] = [:]
    var fields: [String: Field] = [:]
    var envelope: Set<String> = []
    for row in table.rows {
      let name = row["field"]
      if row["absence"] == "envelope" {
        envelope.insert(name)
        continue
      }
      guard let field = Field(name: name) else { throw .unknownWord(row: row.id, column: "field") }
      guard let absence = Absence(rawValue: row["absence"]) else { throw .unknownWord(row: row.id, column: "absence") }
      rules[field] = .init(id: row.id, absence: absence, silenced: try Self.sources(row))
      fields[name] = field
    }
    guard let complete = FoldRules(rules) else {
      throw .missingRow(Field.allCases.first { rules[$0] == nil }?.name ?? "")
    }
    self.rules = complete
    self.fields = fields
    self.envelope = envelope
  }

  /// The field that Apple's V2 name stands for; nil when this build knows none.
  package func field(named name: String) -> Field? { fields[name] }

  private static func sources(_ row: Table.Row) throws(Table.Malformed) -> Set<Source> {
    if row["noVote"] == "-" { return [] }
    var sources: Set<Source> = []
    for name in row["noVote"].split(separator: ",") {
      guard let source = Source.allCases.first(where: { $0.name == name }) else {
        throw .unknownWord(row: row.id, column: "noVote")
      }
      sources.insert(source)
    }
    return sources
  }
}
