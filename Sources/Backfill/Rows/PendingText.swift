import Runtime

/// The part of an input that is held until its rows are whole.
///
/// Positions count from the input's beginning.
struct PendingText {
  /// May begin with bytes that were taken already: removing them at once each time would copy too much.
  private var bytes: [UInt8]
  /// The position of `bytes[0]`.
  private var base: Int
  /// The position of the first byte that is held.
  private(set) var start: Int
  /// The line of that byte, from 1.
  private(set) var line: Int
  /// The byte before `bytes[0]`; nil where the rows begin.
  private var previous: UInt8?
  private let lastOfLine: UInt8

  /// - Parameter lastOfLine: the byte with which a line ends.
  init(_ bytes: [UInt8], start: Int, line: Int, lastOfLine: UInt8) {
    self.bytes = bytes
    base = start
    self.start = start
    self.line = line
    self.lastOfLine = lastOfLine
  }

  var end: Int { base + bytes.count }
  /// How many bytes are held.
  var count: Int { end - start }

  mutating func append(_ more: [UInt8]) { if bytes.isEmpty { bytes = more } else { bytes += more } }

  /// Removes and returns the bytes before `position`, with the line on which they begin.
  mutating func take(to position: Int) -> (bytes: [UInt8], line: Int) {
    let first = line
    let range = start - base..<position - base
    line += lineCount(in: range)
    start = position
    if range.lowerBound == 0, range.count >= bytes.count - range.count {
      // The rest is the smaller part, so copy that.
      var taken = Array(bytes[range.upperBound...])
      swap(&taken, &bytes)
      taken.removeSubrange(range.upperBound...)
      base = position
      previous = taken.last ?? previous
      return (taken, first)
    }
    let taken = Array(bytes[range])
    if range.upperBound >= bytes.count - range.upperBound {
      previous = bytes[range.upperBound - 1]
      bytes.removeSubrange(..<range.upperBound)
      base = position
    }
    return (taken, first)
  }

  /// Calls `body` with each byte from `position` on and where it is.
  func forEachByte(from position: Int, _ body: (UInt8, Int) -> Void) {
    let span = bytes.span
    for index in max(0, position - base)..<max(max(0, position - base), bytes.count) { body(span[index], base + index) }
  }

  private func lineCount(in range: Range<Int>) -> Int {
    let span = bytes.span
    var (count, index) = (0, range.lowerBound)
    while let found = span.firstIndex(of: lastOfLine, from: index, before: range.upperBound) {
      count += 1
      index = found + 1
    }
    return count
  }

  /// Returns the position behind the first line end in `from..<end`.
  func firstLineEnd(from: Int, before end: Int) -> Int? {
    bytes.span.firstIndex(of: lastOfLine, from: max(start, from) - base, before: end - base).map { base + $0 + 1 }
  }

  /// Returns the position behind the last line end in `from..<end`.
  func lastLineEnd(from: Int, before end: Int) -> Int? {
    bytes.span.lastIndex(of: lastOfLine, from: max(start, from) - base, before: end - base).map { base + $0 + 1 }
  }
}

extension PendingText {
  /// Returns the first run of quotes at `position` or later, and the position up to which there are no quotes.
  ///
  /// The run is nil when there is none, or when more text is needed to see its end and what follows.
  func nextRun(from position: Int, _ dialect: CSVDialect, isLast: Bool) -> (run: QuoteRun?, clear: Int) {
    let span = bytes.span
    guard let first = span.firstIndex(of: CSVDialect.quote, from: position - base, before: bytes.count) else {
      return (nil, end)
    }
    let longest = first + QuoteRun.longest
    var behind = first + 1
    while behind < min(bytes.count, longest), span[behind] == CSVDialect.quote { behind += 1 }
    if !isLast, behind < longest {
      var next = behind
      if dialect.lineEnd != .carriageReturn {
        let limit = min(bytes.count, behind + CSVDialect.mostReturns)
        while next < limit, span[next] == CSVDialect.carriageReturn { next += 1 }
      }
      if next == bytes.count { return (nil, base + first) }
    }
    let before = first > 0 ? span[first - 1] : previous
    let run = QuoteRun(
      start: base + first, end: base + behind,
      isAtFieldStart: before.map { $0 == dialect.delimiter || $0 == lastOfLine } ?? true,
      isAtFieldEnd: dialect.endsLine(span, at: behind, before: bytes.count)
        || span[behind] == dialect.delimiter)
    return (run, run.start)
  }
}
