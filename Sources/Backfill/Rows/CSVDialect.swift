/// How a table separates its fields and its records.
package struct CSVDialect: Hashable, Sendable {
  /// The line end of a table.
  package enum LineEnd: Hashable, Sendable {
    case lineFeed, carriageReturnLineFeed, carriageReturn

    package var bytes: [UInt8] {
      switch self {
      case .lineFeed: [CSVDialect.lineFeed]
      case .carriageReturnLineFeed: [CSVDialect.carriageReturn, CSVDialect.lineFeed]
      case .carriageReturn: [CSVDialect.carriageReturn]
      }
    }
  }

  static let quote = UInt8(ascii: "\"")
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let tab = UInt8(ascii: "\t")
  static let delimiters = [UInt8(ascii: ","), tab, UInt8(ascii: ";")]

  /// The byte between fields: a comma, a semicolon or a tab.
  package let delimiter: UInt8
  package let lineEnd: LineEnd

  package init(delimiter: UInt8, lineEnd: LineEnd) {
    self.delimiter = delimiter
    self.lineEnd = lineEnd
  }

  /// How many carriage returns before a line feed belong to the line end, whatever `lineEnd` is.
  ///
  /// Two are what Windows' text mode makes of CR LF, for example of Python's csv module without `newline=""`.
  static let mostReturns = 2

  /// The byte with which a line ends.
  var lastOfLine: UInt8 { lineEnd == .carriageReturn ? Self.carriageReturn : Self.lineFeed }

  /// Returns whether a line ends at `index`, which may be `end`.
  func endsLine(_ bytes: borrowing Span<UInt8>, at index: Int, before end: Int) -> Bool {
    guard index < end else { return true }
    if bytes[index] == lastOfLine { return true }
    guard lineEnd != .carriageReturn, bytes[index] == Self.carriageReturn else { return false }
    for next in index + 1...index + Self.mostReturns {
      if next == end || bytes[next] == Self.lineFeed { return true }
      if bytes[next] != Self.carriageReturn { return false }
    }
    return false
  }

  /// Returns the index behind the line end at `index`.
  func nextLine(_ bytes: borrowing Span<UInt8>, at index: Int, before end: Int) -> Int {
    var last = index
    while last < end, bytes[last] != lastOfLine { last += 1 }
    return min(last + 1, end)
  }
}

extension CSVDialect.LineEnd {
  /// The line end of the first record; nil when it does not end here or is not a record.
  ///
  /// - Parameter start: where the record begins.
  init?(ofFirstRecordIn bytes: [UInt8], from start: Int, delimiter: UInt8) {
    var index = start
    while index < bytes.count {
      if bytes[index] == CSVDialect.quote {
        index += 1
        // Until a quote that is not written twice.
        while index < bytes.count,
          bytes[index] != CSVDialect.quote || bytes[index...].dropFirst().first == CSVDialect.quote
        {
          index += bytes[index] == CSVDialect.quote ? 2 : 1
        }
        index += 1
      } else {
        while index < bytes.count, ![delimiter, CSVDialect.lineFeed, CSVDialect.carriageReturn].contains(bytes[index]) {
          index += 1
        }
      }
      guard index < bytes.count else { return nil }
      switch bytes[index] {
      case delimiter: index += 1
      case CSVDialect.lineFeed:
        self = .lineFeed
        return
      case CSVDialect.carriageReturn:
        let returns = bytes[index...].prefix(CSVDialect.mostReturns).prefix { $0 == CSVDialect.carriageReturn }
        guard returns.endIndex < bytes.count else { return nil }
        self = bytes[returns.endIndex] == CSVDialect.lineFeed ? .carriageReturnLineFeed : .carriageReturn
        return
      default: return nil
      }
    }
    return nil
  }
}
