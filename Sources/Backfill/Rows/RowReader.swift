/// Reads the rows of one input: takes bytes in pieces of any length and returns blocks of rows with lines and positions.
///
/// The rows depend on the bytes alone, not on the lengths of the pieces.
package struct RowReader {
  private enum Cutter {
    case csv(CSVSplitter)
    case lines(LineSplitter)
    case elements(JSONArraySplitter)
  }

  private let file: String?
  private let limits: RowLimits
  private let named: NamedColumns
  private var start: [UInt8] = []
  private var cutter: Cutter?
  /// The format of the input; nil until enough bytes came to tell.
  package private(set) var format: RowFormat?

  /// - Parameters:
  ///   - file: the file of a folder; nil when there is only one.
  ///   - named: the columns that an operator named.
  package init(file: String? = nil, limits: RowLimits = RowLimits(), named: NamedColumns = NamedColumns()) {
    self.file = file
    self.limits = limits
    self.named = named
  }

  /// Returns the blocks that are complete now.
  package mutating func blocks(adding bytes: [UInt8]) -> [Block] {
    guard cutter == nil else { return cut(adding: bytes) }
    start += bytes
    guard start.count >= limits.beginning, begin(isAll: start.count >= limits.row) else { return [] }
    return cut(adding: [])
  }

  /// Returns the rest of the input.
  package mutating func finish() -> [Block] {
    if cutter == nil { _ = begin(isAll: true) }
    switch cutter {
    case .csv(var table): return table.finish()
    case .lines(var lines): return lines.finish()
    case .elements(var elements): return elements.finish()
    case nil: return []
    }
  }

  /// How much of the input is held, in bytes.
  package var held: Int {
    switch cutter {
    case .csv(let table): table.held
    case .lines(let lines): lines.held
    case .elements(let elements): elements.held
    case nil: start.count
    }
  }

  private mutating func cut(adding bytes: [UInt8]) -> [Block] {
    // Moved out while it is changed; otherwise its text would be copied.
    let taken = cutter
    cutter = nil
    switch taken {
    case .csv(var table):
      defer { cutter = .csv(table) }
      return table.cut(adding: bytes)
    case .lines(var lines):
      defer { cutter = .lines(lines) }
      return lines.cut(adding: bytes)
    case .elements(var elements):
      defer { cutter = .elements(elements) }
      return elements.cut(adding: bytes)
    case nil: return []
    }
  }

  /// Tells the format and reads the header.
  ///
  /// Returns false if more bytes are needed.
  private mutating func begin(isAll: Bool) -> Bool {
    let hasMark = start.starts(with: [0xEF, 0xBB, 0xBF])
    let text = hasMark ? Array(start.dropFirst(3)) : start
    guard let (told, body) = RowFormat.told(by: text, isAll: isAll, named: named) else { return false }
    let position = (hasMark ? 3 : 0) + body
    start = []
    switch told {
    case .csv(var columns):
      columns.hasByteOrderMark = hasMark
      format = .csv(columns)
      let last = columns.dialect.lastOfLine
      cutter = .csv(
        CSVSplitter(
          columns, file: file, limits: limits, line: 1 + text[..<body].count { $0 == last }, position: position,
          bytes: Array(text[body...])))
    case .jsonArray:
      format = told
      cutter = .elements(JSONArraySplitter(file: file, limits: limits, named: named, position: position, bytes: text))
    case .jsonLines, .receiptLines, .wholeFile:
      format = told
      cutter = .lines(LineSplitter(told, file: file, limits: limits, named: named, position: position, bytes: text))
    }
    return true
  }
}
