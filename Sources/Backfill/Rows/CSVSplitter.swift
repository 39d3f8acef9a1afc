/// Cuts a table into blocks of whole records and of doubtful lines.
struct CSVSplitter {
  private let columns: CSVColumns
  private let file: String?
  private let rowLimit: Int
  private var text: PendingText
  private var scan: TableScan
  /// Whether the last row of the blocks so far has too few fields.
  private var endsWithShortRow = false

  /// - Parameter bytes: the text behind the header, as far as it is read.
  init(_ columns: CSVColumns, file: String?, limits: RowLimits, line: Int, position: Int, bytes: [UInt8]) {
    self.columns = columns
    self.file = file
    rowLimit = limits.row
    text = PendingText(bytes, start: position, line: line, lastOfLine: columns.dialect.lastOfLine)
    scan = TableScan(columns.dialect, limits, start: position)
  }

  var held: Int { text.count }

  /// Returns the blocks that are complete now.
  mutating func cut(adding bytes: [UInt8]) -> [Block] {
    text.append(bytes)
    scan.scan(text, isLast: false)
    return takeBlocks()
  }

  mutating func finish() -> [Block] {
    scan.scan(text, isLast: true)
    return takeBlocks()
  }

  /// Returns the decided parts as blocks, as few as possible.
  ///
  /// Dropped bytes separate two blocks.
  private mutating func takeBlocks() -> [Block] {
    var blocks: [Block] = []
    var waiting: [Block.Piece] = []
    for part in scan.takeParts() {
      let start = waiting.last?.range.upperBound ?? 0
      switch part.kind {
      case .dropped:
        blocks += block(of: &waiting)
        endsWithShortRow = false
        _ = text.take(to: part.end)
      case .records: waiting.append(Block.Piece(kind: .rows, range: start..<part.end - text.start))
      case .doubtful: waiting.append(Block.Piece(kind: .fragments, range: start..<part.end - text.start))
      case .oversized: waiting.append(Block.Piece(kind: .beginning, range: start..<part.end - text.start))
      }
    }
    return blocks + block(of: &waiting)
  }

  private mutating func block(of pieces: inout [Block.Piece]) -> [Block] {
    guard let end = pieces.last?.range.upperBound else { return [] }
    defer { pieces = [] }
    let position = text.start
    let (bytes, line) = text.take(to: position + end)
    let block = Block(
      format: .csv(columns), file: file, line: line, position: position, bytes: bytes, pieces: pieces,
      followsShortRow: endsWithShortRow, rowLimit: rowLimit)
    endsWithShortRow = block.endsWithShortRow(columns)
    return [block]
  }
}
