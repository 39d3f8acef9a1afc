import Runtime

/// A field of a row: where it stands, quotes left out.
struct CSVField {
  let range: Range<Int>
  /// Whether it has quotes in it, written twice.
  let isEscaped: Bool

  init(_ range: Range<Int>, isEscaped: Bool = false) {
    self.range = range
    self.isEscaped = isEscaped
  }

  /// The field that a whole line is.
  init(_ line: [UInt8]) {
    let isQuoted = line.count > 1 && line.first == CSVRecord.quote && line.last == CSVRecord.quote
    self.init(isQuoted ? 1..<line.count - 1 : 0..<line.count)
  }

  func value(in bytes: [UInt8]) -> ArraySlice<UInt8> {
    guard isEscaped else { return bytes[range] }
    var value: [UInt8] = []
    var wasQuote = false
    for byte in bytes[range] {
      wasQuote = byte == CSVRecord.quote && !wasQuote
      if !wasQuote { value.append(byte) }
    }
    return value[...]
  }
}

/// The fields of one record (RFC 4180).
struct CSVFields {
  private var fields: [CSVField] = []

  /// - Parameter record: without its line end.
  init(_ bytes: borrowing Span<UInt8>, _ record: Range<Int>, delimiter: UInt8) {
    fields.reserveCapacity(8)
    var start = record.lowerBound
    while true {
      var end: Int
      if start < record.upperBound, bytes[start] == CSVRecord.quote {
        var isEscaped = false
        var close = start + 1
        while let quote = bytes.firstIndex(of: CSVRecord.quote, from: close, before: record.upperBound) {
          close = quote
          guard quote + 1 < record.upperBound, bytes[quote + 1] == CSVRecord.quote else { break }
          isEscaped = true
          close = quote + 2
        }
        let isClosed = close < record.upperBound && bytes[close] == CSVRecord.quote
        fields.append(CSVField(start + 1..<(isClosed ? close : record.upperBound), isEscaped: isEscaped))
        // What stands between a closing quote and the delimiter belongs nowhere.
        end = bytes.firstIndex(of: delimiter, from: close, before: record.upperBound) ?? record.upperBound
      } else {
        end = bytes.firstIndex(of: delimiter, from: start, before: record.upperBound) ?? record.upperBound
        fields.append(CSVField(start..<end))
      }
      if end == record.upperBound { return }
      start = end + 1
    }
  }

  subscript(index: Int) -> CSVField? { index < fields.count ? fields[index] : nil }

  func map<Result>(_ transform: (CSVField) -> Result) -> [Result] { fields.map(transform) }
}

/// Where the records of a table end: line breaks within quotes belong to a field.
enum CSVRecord {
  static let quote = UInt8(ascii: "\"")
  static let lineFeed: UInt8 = 0x0A

  enum End: Equatable {
    /// Behind the record's line feed.
    case at(Int)
    /// The same, but a quote was opened and never closed: only the line is taken, or one slip would swallow the file.
    case broken(Int)
    /// More bytes are needed to know.
    case unknown
  }

  /// Where the record that begins at `start` ends.
  ///
  /// - Parameter isLast: whether nothing follows `end`.
  static func end(
    in bytes: borrowing Span<UInt8>, from start: Int, before end: Int, delimiter: UInt8, isLast: Bool
  ) -> End {
    let line = bytes.firstIndex(of: lineFeed, from: start, before: end)
    if line == nil, !isLast { return .unknown }
    var lineEnd = line ?? end
    guard var quote = bytes.firstIndex(of: quote, from: start, before: lineEnd) else {
      return .at(min(lineEnd + 1, end))
    }
    while true {
      // Only a quote at a field's beginning opens anything.
      guard quote == start || bytes[quote - 1] == delimiter else {
        guard let next = bytes.firstIndex(of: self.quote, from: quote + 1, before: lineEnd) else {
          return .at(min(lineEnd + 1, end))
        }
        quote = next
        continue
      }
      let opening = quote
      var from = opening + 1
      var closing: Int?
      while let found = bytes.firstIndex(of: self.quote, from: from, before: end) {
        if found + 1 < end, bytes[found + 1] == self.quote {
          from = found + 2
        } else {
          closing = found
          break
        }
      }
      // Broken base64 has no delimiter in it: what has one after a line break is the next record.
      if let first = bytes.firstIndex(of: lineFeed, from: opening, before: closing ?? end),
        bytes.firstIndex(of: delimiter, from: first, before: closing ?? end) != nil
      {
        return .broken(first + 1)
      }
      guard let closing else {
        guard isLast else { return .unknown }
        let first = bytes.firstIndex(of: lineFeed, from: opening, before: end)
        return .broken(first.map { $0 + 1 } ?? end)
      }
      if closing + 1 == end, !isLast { return .unknown }
      let nextLine = bytes.firstIndex(of: lineFeed, from: closing + 1, before: end)
      if nextLine == nil, !isLast { return .unknown }
      lineEnd = nextLine ?? end
      guard let next = bytes.firstIndex(of: self.quote, from: closing + 1, before: lineEnd) else {
        return .at(min(lineEnd + 1, end))
      }
      quote = next
    }
  }
}
