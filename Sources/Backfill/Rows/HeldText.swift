import Runtime

/// The part of an input that is held until its rows are whole.
///
/// Positions count from the input's beginning.
struct HeldText {
  private(set) var bytes: [UInt8]
  /// The position of the first byte.
  private(set) var start: Int
  /// The line of the first byte, from 1.
  private(set) var line: Int
  /// The byte before the first; nil where the rows begin.
  private var previous: UInt8?
  private let lastOfLine: UInt8

  /// - Parameter lastOfLine: the byte with which a line ends.
  init(_ bytes: [UInt8], start: Int, line: Int, lastOfLine: UInt8) {
    self.bytes = bytes
    self.start = start
    self.line = line
    self.lastOfLine = lastOfLine
  }

  var end: Int { start + bytes.count }

  mutating func append(_ more: [UInt8]) { if bytes.isEmpty { bytes = more } else { bytes += more } }

  /// Forgets what is before `position`; returns it, and the line on which it began.
  mutating func take(to position: Int) -> (bytes: [UInt8], line: Int) {
    let count = position - start
    let first = line
    // The rest is copied, which mostly is the smaller part.
    var taken = Array(bytes[count...])
    swap(&taken, &bytes)
    taken.removeSubrange(count...)
    if let last = taken.last { previous = last }
    start = position
    let span = taken.span
    var index = 0
    while let found = span.firstIndex(of: lastOfLine, from: index, before: count) {
      line += 1
      index = found + 1
    }
    return (taken, first)
  }

  /// Behind the first line end that is at `from` or later and before `end`.
  func firstLineEnd(from: Int, before end: Int) -> Int? {
    bytes.span.firstIndex(of: lastOfLine, from: max(0, from - start), before: end - start).map { start + $0 + 1 }
  }

  /// Behind the last line end that is at `from` or later and before `end`.
  func lastLineEnd(from: Int, before end: Int) -> Int? {
    bytes.span.lastIndex(of: lastOfLine, from: max(0, from - start), before: end - start).map { start + $0 + 1 }
  }
}

extension HeldText {
  /// The quotes that stand beside each other first, from a position on, and up to where the text is free of quotes.
  ///
  /// Nil while they, or what tells whether they end a field, may go on behind the text.
  func nextRun(from position: Int, _ dialect: CSVDialect, isLast: Bool) -> (run: QuoteRun?, clear: Int) {
    let span = bytes.span
    guard let first = span.firstIndex(of: CSVDialect.quote, from: position - start, before: bytes.count) else {
      return (nil, end)
    }
    let longest = first + QuoteRun.longest
    var behind = first + 1
    while behind < min(bytes.count, longest), span[behind] == CSVDialect.quote { behind += 1 }
    if !isLast, behind < longest {
      let isReturnLast =
        behind + 1 == bytes.count && dialect.lineEnd != .carriageReturn && span[behind] == CSVDialect.carriageReturn
      if behind == bytes.count || isReturnLast { return (nil, start + first) }
    }
    let before = first > 0 ? span[first - 1] : previous
    let run = QuoteRun(
      start: start + first, end: start + behind,
      isAtFieldStart: before.map { $0 == dialect.delimiter || $0 == lastOfLine } ?? true,
      isAtFieldEnd: dialect.endsLine(span, at: behind, before: bytes.count)
        || span[behind] == dialect.delimiter)
    return (run, run.start)
  }
}
