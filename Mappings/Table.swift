/// A table of facts: tab-separated rows below a line of column names; `#` begins a comment line.
package struct Table: Sendable {
  package struct Row: Sendable {
    package let id: String
    private let cells: [String: String]

    fileprivate init(id: String, cells: [String: String]) {
      self.id = id
      self.cells = cells
    }

    /// The cell below the name of a column; empty for a name that the table does not have.
    package subscript(column: String) -> String { cells[column] ?? "" }
  }

  /// Why a table cannot be used; every one of them is loaded by a test, so that no build with such a table is released.
  package enum Malformed: Error, Equatable {
    case noColumns
    case wrongColumns([String])
    case wrongCellCount(line: Int)
    /// An id is a capital letter, a hyphen and three digits.
    case malformedID(line: Int)
    case repeatedID(String)
    /// A second row about the same thing.
    case repeatedRow(String)
    case unknownWord(row: String, column: String)
    case missingRow(String)
  }

  package let rows: [Row]

  /// Reads a table that has exactly these columns, the first of which is the id.
  package init(_ bytes: [UInt8], columns: [String]) throws(Malformed) {
    let lines = String(decoding: bytes, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let written = lines.enumerated().filter { !$0.element.isEmpty && !$0.element.hasPrefix("#") }
    guard let first = written.first else { throw .noColumns }
    let names = Self.cells(first.element)
    guard names == columns else { throw .wrongColumns(names) }
    var ids: Set<String> = []
    var rows: [Row] = []
    for (number, line) in written.dropFirst() {
      let cells = Self.cells(line)
      guard cells.count == columns.count, let id = cells.first else { throw .wrongCellCount(line: number + 1) }
      guard Self.isID(id) else { throw .malformedID(line: number + 1) }
      guard ids.insert(id).inserted else { throw .repeatedID(id) }
      rows.append(Row(id: id, cells: Dictionary(zip(columns, cells)) { first, _ in first }))
    }
    self.rows = rows
  }

  private static func cells(_ line: Substring) -> [String] {
    line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
  }

  private static func isID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 5 && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[0])
      && bytes[1] == UInt8(ascii: "-")
      && bytes[2...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
