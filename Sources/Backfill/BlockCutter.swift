import Runtime

/// Cuts a stream into blocks of whole rows, so that they can be worked on beside each other.
struct BlockCutter {
  private let format: RowFormat
  private let file: String?
  private let rowLimit: Int
  private var line: Int
  /// Begins with a row, unless the rest of one that is too long is being left out.
  private var pending: [UInt8]
  private var isSkipping = false

  init(format: RowFormat, file: String?, rowLimit: Int, line: Int, pending: [UInt8]) {
    self.format = format
    self.file = file
    self.rowLimit = rowLimit
    self.line = line
    self.pending = pending
  }

  /// The blocks that are whole now.
  mutating func cut(adding bytes: [UInt8]) -> [Block] {
    if pending.isEmpty { pending = bytes } else { pending += bytes }
    return cut(isLast: false)
  }

  /// What is left at the end.
  mutating func finish() -> [Block] { cut(isLast: true) }

  private mutating func cut(isLast: Bool) -> [Block] {
    var blocks: [Block] = []
    while !pending.isEmpty {
      if isSkipping, !skip() { break }
      let end = isLast ? pending.count : boundary()
      if end > 0 {
        blocks.append(block(.rows(end == pending.count ? pending : Array(pending[..<end]))))
        drop(end)
      }
      guard pending.count > rowLimit else { break }
      blocks.append(block(.tooLarge(Array(pending.prefix(Self.kept)))))
      isSkipping = true
    }
    return blocks
  }

  /// So much of a row that is too long is written to the rejects.
  private static let kept = 200

  private func block(_ content: Block.Content) -> Block {
    Block(format: format, file: file, line: line, content: content)
  }

  private mutating func drop(_ count: Int) {
    line += Self.lineFeeds(in: pending, before: count)
    if count == pending.count { pending = [] } else { pending.removeSubrange(..<count) }
  }

  /// Leaves out what is left of a row that is too long; false when its end has not come.
  private mutating func skip() -> Bool {
    guard format != .wholeFile,
      let end = pending.span.firstIndex(of: CSVRecord.lineFeed, from: 0, before: pending.count)
    else {
      pending = []
      return false
    }
    isSkipping = false
    drop(end + 1)
    return true
  }

  /// Behind the last row that is whole; 0 when none is.
  private func boundary() -> Int {
    let bytes = pending.span
    switch format {
    case .wholeFile: return 0
    case .jsonLines, .receiptLines: return lastLine(bytes)
    case .csv(let columns):
      guard var start = bytes.firstIndex(of: CSVRecord.quote, from: 0, before: bytes.count) else {
        return lastLine(bytes)
      }
      // Rows before the first quote are plain.
      start = bytes.lastIndex(of: CSVRecord.lineFeed, from: 0, before: start).map { $0 + 1 } ?? 0
      while start < bytes.count {
        switch CSVRecord.end(
          in: bytes, from: start, before: bytes.count, delimiter: columns.delimiter, isLast: false)
        {
        case .at(let end), .broken(let end): start = end
        case .unknown: return start
        }
      }
      return start
    }
  }

  private func lastLine(_ bytes: borrowing Span<UInt8>) -> Int {
    bytes.lastIndex(of: CSVRecord.lineFeed, from: 0, before: bytes.count).map { $0 + 1 } ?? 0
  }

  private static func lineFeeds(in bytes: [UInt8], before end: Int) -> Int {
    let span = bytes.span
    var (count, from) = (0, 0)
    while let found = span.firstIndex(of: CSVRecord.lineFeed, from: from, before: end) {
      count += 1
      from = found + 1
    }
    return count
  }
}
