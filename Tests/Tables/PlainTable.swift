/// A table read by RFC 4180 alone, byte by byte: slow, and easy to hold against the RFC.
///
/// Nothing is recovered: text that the RFC does not allow is no table. Two liberties are those of Python's csv module: line
/// ends of any kind (LF, CR LF, CR CR LF) end a record, and in an unquoted field a lone carriage return is a byte like any other (a lone
/// line feed in tables whose lines end with carriage returns).
package struct PlainTable {
  package struct Record: Equatable {
    /// The line on which it begins, from 1.
    package var line = 0
    /// Its bytes, without the line end.
    package var range = 0..<0
    package var fields: [[UInt8]] = []
    /// Whether it has no bytes but white space: no reader takes that for a record.
    package var isBlank = false
  }

  package let records: [Record]

  private enum State { case fieldStart, unquoted, quoted, behindQuote }

  /// Nil when RFC 4180 does not allow the text.
  ///
  /// - Parameter endsWithReturn: whether lines end with a lone carriage return.
  package init?(_ bytes: [UInt8], delimiter: UInt8, endsWithReturn: Bool = false) {
    let (quote, feed, carriageReturn) = (UInt8(ascii: "\""), UInt8(0x0A), UInt8(0x0D))
    var records: [Record] = []
    var record = Record()
    var field: [UInt8] = []
    var state = State.fieldStart
    var (line, start, index) = (1, 0, 0)

    /// The length of the line end at `index`; 0 when there is none.
    func lineEnd(_ index: Int) -> Int {
      if endsWithReturn { return bytes[index] == carriageReturn ? 1 : 0 }
      if bytes[index] == feed { return 1 }
      guard bytes[index] == carriageReturn else { return 0 }
      // A doubled carriage return is what Windows' text mode makes of CR LF.
      for length in 1...2 {
        if index + length == bytes.count { return length }
        if bytes[index + length] == feed { return length + 1 }
        if bytes[index + length] != carriageReturn { return 0 }
      }
      return 0
    }

    func endRecord(at end: Int) {
      record.fields.append(field)
      record.range = start..<end
      record.isBlank = record.fields.count == 1 && bytes[start..<end].allSatisfy { $0 <= 0x20 }
      records.append(record)
      record = Record()
      field = []
      state = .fieldStart
    }

    while index < bytes.count {
      let byte = bytes[index]
      if state == .fieldStart, field.isEmpty, record.fields.isEmpty {
        start = index
        record.line = line
      }
      let isLineEnd = state == .quoted ? 0 : lineEnd(index)
      switch state {
      case .fieldStart where byte == quote: state = .quoted
      case .quoted where byte == quote:
        if index + 1 < bytes.count, bytes[index + 1] == quote {
          field.append(quote)
          index += 1
        } else {
          state = .behindQuote
        }
      case .quoted: field.append(byte)
      case .fieldStart where isLineEnd > 0, .unquoted where isLineEnd > 0, .behindQuote where isLineEnd > 0:
        endRecord(at: index)
        index += isLineEnd - 1
      case .fieldStart where byte == delimiter, .unquoted where byte == delimiter, .behindQuote where byte == delimiter:
        record.fields.append(field)
        field = []
        state = .fieldStart
      case .behindQuote: return nil
      case .fieldStart, .unquoted:
        if byte == quote { return nil }
        field.append(byte)
        state = .unquoted
      }
      if bytes[index] == (endsWithReturn ? carriageReturn : feed) { line += 1 }
      index += 1
    }
    if state == .quoted { return nil }
    if state != .fieldStart || !record.fields.isEmpty { endRecord(at: bytes.count) }
    self.records = records
  }
}
