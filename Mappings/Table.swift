/// A table of facts: tab-separated rows below a line of column names; `#` begins a comment line.
public struct Table: Sendable {
  public struct Row: Sendable {
    public let id: String
    /// Where it is written, from 1.
    public let line: Int
    private let cells: [String: String]

    fileprivate init(id: String, line: Int, cells: [String: String]) {
      self.id = id
      self.line = line
      self.cells = cells
    }

    /// The cell below the name of a column; empty for a name that the table does not have.
    public subscript(column: String) -> String { cells[column] ?? "" }
  }

  /// Why a table cannot be used; every one of them is loaded by a test, so that no build with such a table is released.
  public enum Malformed: Error, Equatable {
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

  public let columns: [String]
  public let rows: [Row]
  /// What the comment lines say, without their signs.
  public let comment: [String]

  /// Reads a table that has exactly these columns, the first of which is the id.
  public init(_ bytes: [UInt8], columns: [String]) throws(Malformed) {
    try self.init(bytes) { $0 == columns }
  }

  /// Reads a table whatever its columns are; the first of them is the id.
  public init(_ bytes: [UInt8]) throws(Malformed) { try self.init(bytes) { Set($0).count == $0.count } }

  private init(_ bytes: [UInt8], areColumns: ([String]) -> Bool) throws(Malformed) {
    let lines = String(decoding: bytes, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let written = lines.enumerated().filter { !$0.element.isEmpty && !$0.element.hasPrefix("#") }
    guard let first = written.first else { throw .noColumns }
    let columns = Self.cells(first.element)
    guard areColumns(columns) else { throw .wrongColumns(columns) }
    var ids: Set<String> = []
    var rows: [Row] = []
    for (number, line) in written.dropFirst() {
      let cells = Self.cells(line)
      guard cells.count == columns.count, let id = cells.first else { throw .wrongCellCount(line: number + 1) }
      guard Self.isID(id) else { throw .malformedID(line: number + 1) }
      guard ids.insert(id).inserted else { throw .repeatedID(id) }
      rows.append(Row(id: id, line: number + 1, cells: Dictionary(zip(columns, cells)) { first, _ in first }))
    }
    self.columns = columns
    self.rows = rows
    comment = lines.filter { $0.hasPrefix("#") }.map { String($0.dropFirst($0.hasPrefix("# ") ? 2 : 1)) }
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
