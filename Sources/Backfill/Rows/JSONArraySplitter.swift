/// Cuts a JSON array into blocks of whole elements.
struct JSONArraySplitter {
  private let file: String?
  private let rowLimit: Int
  private let named: NamedColumns
  /// Begins with an element or what separates two, unless the rest of one that is too long is being skipped.
  private var text: PendingText
  private var scan = ElementScan()
  /// The position up to which the text was looked at.
  private var scanned: Int
  /// The position behind the last element that is whole.
  private var boundary: Int
  private var isSkipping = false

  init(file: String?, limits: RowLimits, named: NamedColumns, position: Int, bytes: [UInt8]) {
    self.file = file
    self.named = named
    rowLimit = limits.row
    text = PendingText(bytes, start: position, line: 1, lastOfLine: CSVDialect.lineFeed)
    (scanned, boundary) = (position, position)
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
    let firstEnd = look()
    var blocks: [Block] = []
    if isSkipping {
      // The rest of an element that is too long goes with its end.
      guard let end = firstEnd ?? (isLast ? text.end : nil) else {
        _ = text.take(to: text.end)
        return []
      }
      _ = text.take(to: end)
      isSkipping = false
    }
    let end = isLast ? text.end : boundary
    if end > text.start { blocks.append(block(.rows, to: end)) }
    if text.count > rowLimit {
      blocks.append(block(.beginning, to: min(text.end, text.start + Block.beginningLength)))
      isSkipping = true
      _ = text.take(to: text.end)
    }
    return blocks
  }

  /// Looks at what was not looked at; returns the position behind the first element that ends there.
  private mutating func look() -> Int? {
    var (scan, boundary) = (scan, boundary)
    var first: Int?
    text.forEachByte(from: scanned) { byte, position in
      switch scan.step(byte) {
      case .ends: boundary = position + 1
      case .endedBefore: boundary = position
      case .begins, .none: return
      }
      if first == nil { first = boundary }
    }
    (self.scan, self.boundary, scanned) = (scan, boundary, text.end)
    return first
  }

  private mutating func block(_ kind: Block.Piece.Kind, to end: Int) -> Block {
    let position = text.start
    let (bytes, line) = text.take(to: end)
    return Block(
      format: .jsonArray, file: file, line: line, position: position, bytes: bytes,
      pieces: [Block.Piece(kind: kind, range: 0..<bytes.count)], followsShortRow: false, rowLimit: rowLimit,
      named: named)
  }
}
