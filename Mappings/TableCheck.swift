/// Whether an edited table could take the place of the embedded one.
package struct TableCheck: Sendable {
  /// What is wrong, where, and what to do about it.
  package struct Problem: Equatable, Sendable {
    /// From 1; nil for what is wrong with the whole.
    package let line: Int?
    package let what: String
    package let next: String
  }

  private let table: MappingTable
  private let bytes: [UInt8]

  package init(_ bytes: [UInt8], as table: MappingTable) {
    self.table = table
    self.bytes = bytes
  }

  /// Every problem that can be told: the first that keeps it from being read, and rows that are no longer what they were.
  package var problems: [Problem] {
    var problems: [Problem] = []
    do throws(Table.Malformed) { try table.load(bytes) } catch { problems.append(problem(error)) }
    guard let edited = try? Table(bytes) else { return problems }
    for row in edited.rows where row.id.first != table.letter {
      problems.append(
        Problem(
          line: row.line, what: "\(row.id) is an id of another table",
          next: "Begin the ids of \(table.file) with \(table.letter)."))
    }
    return problems + broken(edited)
  }

  /// Row ids stand in ledgers, logs and runbooks: an id that was released is never taken away or given to something else.
  private func broken(_ edited: Table) -> [Problem] {
    let rows = Dictionary(edited.rows.map { ($0.id, $0) }) { first, _ in first }
    return table.embedded.rows.compactMap { was in
      guard let row = rows[was.id] else {
        return Problem(
          line: nil, what: "\(was.id) (\(about(was))) is gone", next: "Put the row back: row ids are permanent.")
      }
      guard about(row) != about(was) else { return nil }
      return Problem(
        line: row.line, what: "\(row.id) was \(about(was)) and is \(about(row)) now",
        next: "Put it back, and give the new row an id that was never used: row ids are permanent.")
    }
  }

  private func about(_ row: Table.Row) -> String {
    table.subject.map { row[$0] }.filter { $0 != "-" }.joined(separator: " ")
  }

  private func problem(_ error: Table.Malformed) -> Problem {
    switch error {
    case .noColumns:
      Problem(line: nil, what: "there is no row of column names", next: "Begin with: \(columns).")
    case .wrongColumns(let names):
      Problem(
        line: lines { !$0.isEmpty && !$0.hasPrefix("#") }.first,
        what: "the columns are \(names.joined(separator: ", "))", next: "Make them, tab-separated: \(columns).")
    case .wrongCellCount(let line):
      Problem(line: line, what: "as many cells as columns are needed", next: "Separate with single tabs: \(columns).")
    case .malformedID(let line):
      Problem(line: line, what: "the id is no id", next: "Write a capital letter, a hyphen and three digits.")
    case .repeatedID(let id):
      Problem(line: lines(of: id).last, what: "\(id) stands twice", next: "Give the new row an id of its own.")
    case .repeatedRow(let id):
      Problem(line: lines(of: id).last, what: "\(id) is about what another row is about", next: "Keep one of the two.")
    case .unknownWord(let row, let column):
      Problem(
        line: lines(of: row).last, what: "\(row) has a word in the column \(column) that is not known",
        next: table.words(of: column).map { "Write one of: \($0.joined(separator: ", "))." }
          ?? "Compare with the comment at the head of the table.")
    case .missingRow(let name):
      Problem(line: nil, what: "there is no row for \(name)", next: "Add one.")
    }
  }

  private var columns: String { table.embedded.columns.joined(separator: ", ") }

  private func lines(of id: String) -> [Int] { lines { $0.hasPrefix("\(id)\t") } }

  private func lines(where isFound: (Substring) -> Bool) -> [Int] {
    let lines = String(decoding: bytes, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return lines.enumerated().filter { isFound($0.element) }.map { $0.offset + 1 }
  }
}
