public import Purchases

/// The fields of a purchase, a renewal or an app transaction: `transaction-fields.tsv` and its neighbours.
public struct FieldTable<Field: FactField>: Sendable {
  public let rules: FoldRules<Field>
  /// Names that say whose and when a payload is, no fact of the thing itself.
  public let envelope: Set<String>

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "field", "absence", "noVote"])
    var rules: [Field: FoldRules<Field>.Rule] = [:]
    var names: Set<String> = []
    var envelope: Set<String> = []
    for row in table.rows {
      let name = row["field"]
      guard names.insert(name).inserted else { throw .repeatedRow(row.id) }
      if row["absence"] == "envelope" {
        envelope.insert(name)
        continue
      }
      guard let field = Field(name: name) else { throw .unknownWord(row: row.id, column: "field") }
      guard let absence = OmissionRule(rawValue: row["absence"]) else {
        throw .unknownWord(row: row.id, column: "absence")
      }
      rules[field] = .init(id: row.id, absence: absence, silenced: try Self.sources(row))
    }
    guard let complete = FoldRules(rules) else {
      throw .missingRow(Field.allCases.first { rules[$0] == nil }?.name ?? "")
    }
    self.rules = complete
    self.envelope = envelope
  }

  private static func sources(_ row: Table.Row) throws(Table.Malformed) -> Set<Source> {
    if row["noVote"] == "-" { return [] }
    var sources: Set<Source> = []
    for name in row["noVote"].split(separator: ",", omittingEmptySubsequences: false) {
      guard let source = Source.allCases.first(where: { $0.name == name }) else {
        throw .unknownWord(row: row.id, column: "noVote")
      }
      sources.insert(source)
    }
    return sources
  }
}
