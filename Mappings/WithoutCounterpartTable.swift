import Purchases

/// What the other generation has no word for: `without-counterpart.tsv`.
package struct WithoutCounterpartTable: Sendable {
  /// Who has it.
  package enum Side: String, Sendable, CaseIterable { case v1, v2 }

  /// The structure that has the field, or the enumeration that has the value.
  package enum Subject: String, Sendable, CaseIterable {
    case row, receipt, answer, notification, unified, request, transaction, renewal, offerType, environment
  }

  package struct Row: Sendable {
    package let id: String
    package let side: Side
    package let subject: Subject
    package let name: String
    package let why: String
  }

  package let rows: [Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "side", "what", "name", "why"])
    var rows: [Row] = []
    for row in table.rows {
      guard let side = Side(rawValue: row["side"]) else { throw .unknownWord(row: row.id, column: "side") }
      guard let subject = Subject(rawValue: row["what"]) else { throw .unknownWord(row: row.id, column: "what") }
      let name = row["name"]
      guard !rows.contains(where: { $0.side == side && $0.subject == subject && $0.name == name }) else {
        throw .repeatedRow(row.id)
      }
      rows.append(Row(id: row.id, side: side, subject: subject, name: name, why: row["why"]))
    }
    self.rows = rows
  }

  /// The names below one structure or enumeration.
  package func names(_ side: Side, _ subject: Subject) -> Set<String> {
    Set(rows.filter { $0.side == side && $0.subject == subject }.map(\.name))
  }
}
