/// A table of facts: tab-separated rows below a line of column names; `#` begins a comment line.
package struct Table: Sendable {
  package struct Row: Sendable {
    package let id: String
    let cells: [String: String]

    package subscript(column: String) -> String { cells[column] ?? "" }
  }

  /// Why a table cannot be used; every one of them is loaded by a test, so that no build with such a table is released.
  package enum Malformed: Error, Equatable {
    case noColumns
    case wrongCellCount(line: Int)
    case repeatedID(String)
    case unknownWord(row: String, column: String)
    case missingRow(String)
  }

  package let columns: [String]
  package let rows: [Row]

  package init(_ bytes: [UInt8]) throws(Malformed) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated().filter { !$0.element.isEmpty && !$0.element.hasPrefix("#") }
    guard let first = lines.first else { throw .noColumns }
    columns = first.element.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    var ids: Set<String> = []
    var rows: [Row] = []
    for (number, line) in lines.dropFirst() {
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard cells.count == columns.count, let id = cells.first else { throw .wrongCellCount(line: number + 1) }
      guard ids.insert(id).inserted else { throw .repeatedID(id) }
      rows.append(Row(id: id, cells: Dictionary(uniqueKeysWithValues: zip(columns, cells))))
    }
    self.rows = rows
  }
}
