/// Cuts an input with one row per line into blocks of whole lines, or takes the whole input as one row.
struct LineSplitter {
  private let format: RowFormat
  private let file: String?
  private let rowLimit: Int
  private let named: NamedColumns
  /// Begins with a row, unless the rest of a row that is too long is being skipped.
  private var text: PendingText
  private var isSkipping = false

  /// - Parameter format: not a table.
  init(
    _ format: RowFormat, file: String?, limits: RowLimits, named: NamedColumns, position: Int, bytes: [UInt8]
  ) {
    self.format = format
    self.file = file
    self.named = named
    rowLimit = limits.row
    text = PendingText(bytes, start: position, line: 1, lastOfLine: CSVDialect.lineFeed)
  }

  var held: Int { text.count }

  /// Returns the blocks that are complete now.
  mutating func cut(adding bytes: [UInt8]) -> [Block] {
    text.append(bytes)
    return cut(isLast: false)
  }

  /// Returns the rest of the input.
  mutating func finish() -> [Block] { cut(isLast: true) }

  private mutating func cut(isLast: Bool) -> [Block] {
    var blocks: [Block] = []
    while text.count > 0 {
      if isSkipping, !skip() { break }
      let end = isLast ? text.end : boundary
      if let end, end > text.start { blocks.append(block(.rows, to: end)) }
      guard text.count > rowLimit else { break }
      blocks.append(block(.beginning, to: min(text.end, text.start + Block.beginningLength)))
      isSkipping = true
    }
    return blocks
  }

  private mutating func block(_ kind: Block.Piece.Kind, to end: Int) -> Block {
    let position = text.start
    let (bytes, line) = text.take(to: end)
    return Block(
      format: format, file: file, line: line, position: position, bytes: bytes,
      pieces: [Block.Piece(kind: kind, range: 0..<bytes.count)], followsShortRow: false, rowLimit: rowLimit,
      named: named)
  }

  /// Skips the rest of a row that is too long.
  ///
  /// Returns false if the row goes on.
  private mutating func skip() -> Bool {
    let end = format == .wholeFile ? nil : text.firstLineEnd(from: text.start, before: text.end)
    _ = text.take(to: end ?? text.end)
    isSkipping = end == nil
    return !isSkipping
  }

  /// The position behind the last complete row; nil when there is none.
  private var boundary: Int? {
    format == .wholeFile ? nil : text.lastLineEnd(from: text.start, before: text.end)
  }
}
