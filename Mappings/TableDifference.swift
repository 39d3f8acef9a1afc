/// What another copy of a table says otherwise than this build.
package struct TableDifference: Equatable, Sendable {
  /// A cell of a row that both have.
  package struct Change: Equatable, Sendable {
    package let id: String
    package let column: String
    package let ours: String
    package let theirs: String
  }

  /// A row that one of the two has.
  package struct Row: Equatable, Sendable {
    package let id: String
    package let cells: [String]
  }

  /// Rows of the other copy that this build does not have.
  package let added: [Row]
  /// Rows of this build that the other copy does not have.
  package let removed: [Row]
  package let changed: [Change]

  package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

  package init(from ours: Table, to theirs: Table) {
    let known = Dictionary(ours.rows.map { ($0.id, $0) }) { first, _ in first }
    let seen = Set(theirs.rows.map(\.id))
    added = theirs.rows.filter { known[$0.id] == nil }.map { Self.row($0, theirs) }
    removed = ours.rows.filter { !seen.contains($0.id) }.map { Self.row($0, ours) }
    let columns = ours.columns + theirs.columns.filter { !ours.columns.contains($0) }
    changed = theirs.rows.flatMap { row -> [Change] in
      guard let known = known[row.id] else { return [] }
      return columns.filter { row[$0] != known[$0] }.map {
        Change(id: row.id, column: $0, ours: known[$0], theirs: row[$0])
      }
    }
  }

  private static func row(_ row: Table.Row, _ table: Table) -> Row {
    Row(id: row.id, cells: table.columns.dropFirst().map { row[$0] })
  }
}
