import Receipts
import Runtime

extension Block {
  /// Calls `body` with every row in order.
  ///
  /// Blank lines of tables and of JSON Lines are skipped.
  package func forEachRow(_ body: (Row) -> Void) {
    var line = self.line
    var isBehindShort = followsShortRow
    for piece in pieces {
      if piece.kind != .rows { isBehindShort = false }
      switch (piece.kind, format) {
      case (.beginning, _): body(beginning(piece.range, line))
      case (.fragments, _): forEachLine(of: piece.range, &line) { if !bytes[$0].isBlank { body(fragment($0, $1)) } }
      case (.rows, .csv(let columns)):
        forEachRecord(of: piece.range, columns, &line, &isBehindShort, body)
      case (.rows, .jsonLines):
        forEachLine(of: piece.range, &line) { if !bytes[$0].isBlank { body(Row(json: whole($0, $1), named)) } }
      case (.rows, .jsonArray):
        forEachElement(of: piece.range, &line) { body(Row(element: whole($0, $1), named)) }
      case (.rows, .receiptLines): forEachLine(of: piece.range, &line) { body(Row(receiptLine: whole($0, $1))) }
      case (.rows, .wholeFile): body(whole(piece.range, line))
      }
    }
  }

  private var lastOfLine: UInt8 {
    if case .csv(let columns) = format { columns.dialect.lastOfLine } else { CSVDialect.lineFeed }
  }

  private func row(_ range: Range<Int>, _ line: Int, isWhole: Bool, _ content: Row.Content) -> Row {
    Row(line: line, position: position + range.lowerBound, raw: bytes[range], isWhole: isWhole, content)
  }

  /// A row whose parts are not found yet.
  private func whole(_ range: Range<Int>, _ line: Int) -> Row {
    if range.count > rowLimit { return beginning(range, line) }
    return row(range, line, isWhole: true, .receipt(bytes[range]))
  }

  /// A line of a doubtful span of a table.
  private func fragment(_ range: Range<Int>, _ line: Int) -> Row {
    if range.count > rowLimit { return beginning(range, line) }
    return row(range, line, isWhole: false, .rejected(.malformedRow))
  }

  /// The beginning of a row that is too long.
  private func beginning(_ range: Range<Int>, _ line: Int) -> Row {
    let limit = min(range.upperBound, range.lowerBound + Self.beginningLength)
    let lineEnd = bytes.span.firstIndex(of: lastOfLine, from: range.lowerBound, before: limit)
    let end = bytes[range.lowerBound..<(lineEnd ?? limit)].withoutReturn.withoutBrokenCharacter.endIndex
    return row(range.lowerBound..<end, line, isWhole: false, .rejected(.tooLarge))
  }

  private func forEachLine(of range: Range<Int>, _ line: inout Int, _ body: (Range<Int>, Int) -> Void) {
    let span = bytes.span
    let last = lastOfLine
    var start = range.lowerBound
    while start < range.upperBound {
      let end = span.firstIndex(of: last, from: start, before: range.upperBound)
      let content = bytes[start..<(end ?? range.upperBound)]
      body((last == CSVDialect.lineFeed ? content.withoutReturn : content).indices, line)
      start = end.map { $0 + 1 } ?? range.upperBound
      line += 1
    }
  }

  private func forEachElement(of range: Range<Int>, _ line: inout Int, _ body: (Range<Int>, Int) -> Void) {
    let span = bytes.span
    var scan = ElementScan()
    var (start, first) = (range.lowerBound, line)
    for index in range {
      let byte = span[index]
      switch scan.step(byte) {
      case .begins: (start, first) = (index, line)
      case .ends: body(start..<index + 1, first)
      case .endedBefore: body(start..<index, first)
      case .none: break
      }
      if byte == CSVDialect.lineFeed { line += 1 }
    }
    if scan.isInside { body(start..<range.upperBound, first) }
  }

  private func forEachRecord(
    of range: Range<Int>, _ columns: CSVColumns, _ line: inout Int, _ isBehindShort: inout Bool, _ body: (Row) -> Void
  ) {
    let span = bytes.span
    let last = columns.dialect.lastOfLine
    var record = CSVRecord()
    var start = range.lowerBound
    while start < range.upperBound {
      record.read(span, from: start, before: range.upperBound, columns.dialect)
      if !isBlank(record) {
        var row = row(record, columns, line)
        if isBehindShort, case .receipt = row.content { row.refuse() }
        isBehindShort = isShort(record, columns)
        body(row)
      }
      while let lineEnd = span.firstIndex(of: last, from: start, before: record.end) {
        line += 1
        start = lineEnd + 1
      }
      start = record.end
    }
  }

  private func isBlank(_ record: CSVRecord) -> Bool {
    record.fields.count == 1 && !record.fields[0].isQuoted && bytes[record.content].isBlank
  }

  private func isShort(_ record: CSVRecord, _ columns: CSVColumns) -> Bool {
    record.content.count <= rowLimit && columns.isShort(record, of: bytes)
  }

  /// Returns whether the last row has too few fields.
  ///
  /// Reads no more than the last line if it has no quote; otherwise quotes are followed from the beginning.
  func endsWithShortRow(_ columns: CSVColumns) -> Bool {
    guard let last = pieces.last, last.kind == .rows else { return false }
    let span = bytes.span
    var record = CSVRecord()
    var end = last.range.upperBound
    while end > last.range.lowerBound {
      let lineEnd = span.lastIndex(of: lastOfLine, from: last.range.lowerBound, before: end - 1)
      let start = lineEnd.map { $0 + 1 } ?? last.range.lowerBound
      if span.firstIndex(of: CSVDialect.quote, from: start, before: end) != nil { break }
      record.read(span, from: start, before: end, columns.dialect)
      if !isBlank(record) { return isShort(record, columns) }
      end = start
    }
    var isShort = pieces.count == 1 && followsShortRow
    var start = last.range.lowerBound
    while start < end {
      record.read(span, from: start, before: end, columns.dialect)
      if !isBlank(record) { isShort = self.isShort(record, columns) }
      start = record.end
    }
    return isShort
  }

  /// Returns the row for a record that is no blank line.
  private func row(_ record: CSVRecord, _ columns: CSVColumns, _ line: Int) -> Row {
    let range = record.content
    if range.count > rowLimit { return beginning(range, line) }
    let fields = columns.split(record.fields, of: bytes)
    if let reason = fields.reason, reason.stays { return row(range, line, isWhole: true, .rejected(reason)) }
    guard record.isSound, columns.allows(fields.count), isNamed(record, columns), !beginsWithFeed(range, columns) else {
      var row = row(range, line, isWhole: record.isSound, .rejected(.malformedRow))
      if !columns.allows(fields.count) { row.otherFieldCount = fields.count }
      return row
    }
    func value(_ index: Int) -> ArraySlice<UInt8> { record.fields[index].value(in: bytes) }
    var row = row(range, line, isWhole: true, .receipt(value(columns.receipt).withoutDataURI))
    let (app, userID) = (columns.app.map(value), columns.userID.map(value))
    guard app?.isUTF8 ?? true, userID?.isUTF8 ?? true else {
      return self.row(range, line, isWhole: true, .rejected(.notUTF8))
    }
    row.app = app
    row.userID = userID?.user
    row.id = columns.id.map(value)
    return row
  }

  /// Returns whether a row begins with a line feed although lines end with carriage returns: it is a line end of another
  /// kind, and no part of the first field.
  private func beginsWithFeed(_ range: Range<Int>, _ columns: CSVColumns) -> Bool {
    columns.dialect.lineEnd == .carriageReturn && bytes[range].first == CSVDialect.lineFeed
  }

  /// Returns whether the user id and the app are intact: a quote within an unquoted one is damage.
  private func isNamed(_ record: CSVRecord, _ columns: CSVColumns) -> Bool {
    for index in [columns.app, columns.userID] {
      guard let index, !record.fields[index].isQuoted else { continue }
      if bytes[record.fields[index].range].contains(CSVDialect.quote) { return false }
    }
    return true
  }
}

extension ArraySlice<UInt8> {
  fileprivate var isUTF8: Bool {
    allSatisfy { $0 < 0x80 } || String(validating: self, as: UTF8.self) != nil
  }

  /// The bytes without an incomplete UTF-8 character at the end.
  fileprivate var withoutBrokenCharacter: Self {
    guard let lead = suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return self }
    let length = self[lead] >= 0xF0 ? 4 : self[lead] >= 0xE0 ? 3 : self[lead] >= 0xC0 ? 2 : 1
    return lead + length > endIndex ? self[..<lead] : self
  }
}
