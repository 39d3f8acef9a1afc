import Runtime

/// A field of a record: the range of its value, without the quotes around it.
struct CSVField {
  let range: Range<Int>
  let isQuoted: Bool
  /// Whether it has quotes in it, each written twice.
  let isEscaped: Bool

  init(_ range: Range<Int>, isQuoted: Bool = false, isEscaped: Bool = false) {
    self.range = range
    self.isQuoted = isQuoted
    self.isEscaped = isEscaped
  }

  func value(in bytes: [UInt8]) -> ArraySlice<UInt8> {
    guard isEscaped else { return bytes[range] }
    var value: [UInt8] = []
    value.reserveCapacity(range.count)
    var isSecond = false
    for byte in bytes[range] {
      isSecond = byte == CSVDialect.quote && !isSecond
      if !isSecond { value.append(byte) }
    }
    return value[...]
  }
}

/// A record of a table, read by RFC 4180: delimiters and line ends count outside quotes only.
struct CSVRecord {
  private(set) var fields: [CSVField] = []
  /// Its bytes without the line end.
  private(set) var content = 0..<0
  /// Behind its line end.
  private(set) var end = 0
  /// Whether every quote that opens a field is closed at a field's end.
  private(set) var isSound = true

  /// Reads the record that begins at `start`.
  ///
  /// A quote within an unquoted field is a byte like any other.
  mutating func read(_ bytes: borrowing Span<UInt8>, from start: Int, before end: Int, _ dialect: CSVDialect) {
    fields.removeAll(keepingCapacity: true)
    isSound = true
    var index = start
    // The end of the current line; searched once per line.
    var lineEnd = -1
    while true {
      if index < end, bytes[index] == CSVDialect.quote {
        guard let close = close(bytes, from: index + 1, before: end) else {
          return finish(start..<end, end: end, isSound: false)
        }
        if dialect.endsLine(bytes, at: close, before: end) {
          return finish(start..<close, end: dialect.nextLine(bytes, at: close, before: end), isSound: true)
        }
        guard bytes[close] == dialect.delimiter else { return finish(start..<end, end: end, isSound: false) }
        index = close + 1
      } else {
        if lineEnd < index { lineEnd = bytes.firstIndex(of: dialect.lastOfLine, from: index, before: end) ?? end }
        guard let delimiter = bytes.firstIndex(of: dialect.delimiter, from: index, before: lineEnd) else {
          var stop = lineEnd
          if dialect.lineEnd != .carriageReturn {
            let first = max(index, lineEnd - CSVDialect.mostReturns)
            while stop > first, bytes[stop - 1] == CSVDialect.carriageReturn { stop -= 1 }
          }
          fields.append(CSVField(index..<stop))
          return finish(start..<stop, end: min(lineEnd + 1, end), isSound: true)
        }
        fields.append(CSVField(index..<delimiter))
        index = delimiter + 1
      }
    }
  }

  /// Reads the field behind an opening quote.
  ///
  /// Returns the index behind its closing quote; nil when there is none.
  private mutating func close(_ bytes: borrowing Span<UInt8>, from start: Int, before end: Int) -> Int? {
    var isEscaped = false
    var index = start
    while let quote = bytes.firstIndex(of: CSVDialect.quote, from: index, before: end) {
      guard quote + 1 < end, bytes[quote + 1] == CSVDialect.quote else {
        fields.append(CSVField(start..<quote, isQuoted: true, isEscaped: isEscaped))
        return quote + 1
      }
      isEscaped = true
      index = quote + 2
    }
    fields.append(CSVField(start..<end, isQuoted: true, isEscaped: isEscaped))
    return nil
  }

  private mutating func finish(_ content: Range<Int>, end: Int, isSound: Bool) {
    self.content = content
    self.end = end
    self.isSound = isSound
  }
}
