import JSON
import Runtime

/// One row of the input, its parts found.
struct Row {
  enum Content {
    case receipt(ArraySlice<UInt8>)
    case rejected(RejectReason)
  }

  /// The line on which it begins, from 1.
  let line: Int
  /// As it stands, without its line end.
  let raw: ArraySlice<UInt8>
  var app: ArraySlice<UInt8>?
  var userID: ArraySlice<UInt8>?
  var content: Content

  init(line: Int, raw: ArraySlice<UInt8>, _ content: Content) {
    self.line = line
    self.raw = raw
    self.content = content
  }
}

extension Block {
  /// Calls `body` with every row in turn; blank lines of tables and of JSON are none.
  func forEachRow(_ body: (Row) -> Void) {
    switch content {
    case .tooLarge(let beginning): body(Row(line: line, raw: beginning[...].firstLine, .rejected(.tooLarge)))
    case .rows(let bytes):
      switch format {
      case .wholeFile: body(Row(line: line, raw: bytes[...], .receipt(bytes[...])))
      case .receiptLines: Self.forEachLine(of: bytes, line) { body(.init(receiptLine: $1, line: $0)) }
      case .jsonLines:
        Self.forEachLine(of: bytes, line) { if !$1.isBlank { body(.init(json: $1, line: $0)) } }
      case .csv(let columns): forEachRecord(of: bytes, columns, body)
      }
    }
  }

  private static func forEachLine(of bytes: [UInt8], _ first: Int, _ body: (Int, ArraySlice<UInt8>) -> Void) {
    let span = bytes.span
    var (line, start) = (first, 0)
    while start < bytes.count {
      let end = span.firstIndex(of: CSVRecord.lineFeed, from: start, before: bytes.count) ?? bytes.count
      body(line, bytes[start..<end].withoutReturn)
      start = end + 1
      line += 1
    }
  }

  private func forEachRecord(of bytes: [UInt8], _ columns: CSVColumns, _ body: (Row) -> Void) {
    let span = bytes.span
    var (line, start) = (self.line, 0)
    while start < bytes.count {
      let found = CSVRecord.end(
        in: span, from: start, before: bytes.count, delimiter: columns.delimiter, isLast: true)
      let (end, isBroken): (Int, Bool) =
        switch found {
        case .at(let end): (end, false)
        case .broken(let end): (end, true)
        case .unknown: (bytes.count, true)
        }
      let hasEnd = span[end - 1] == CSVRecord.lineFeed
      let raw = bytes[start..<(hasEnd ? end - 1 : end)].withoutReturn
      if !raw.isBlank {
        body(isBroken ? Row(line: line, raw: raw, .rejected(.malformedRow)) : Row(raw, of: bytes, columns, line))
      }
      var from = start
      while let feed = span.firstIndex(of: CSVRecord.lineFeed, from: from, before: end) {
        line += 1
        from = feed + 1
      }
      start = end
    }
  }
}

extension Row {
  /// One receipt a line; what follows a tab is the reason of an earlier rejection.
  fileprivate init(receiptLine raw: ArraySlice<UInt8>, line: Int) {
    let tab = raw.span.firstIndex(of: UInt8(ascii: "\t"), from: 0, before: raw.count)
    self.init(line: line, raw: raw, .receipt(raw.prefix(tab ?? raw.count)))
  }

  fileprivate init(_ raw: ArraySlice<UInt8>, of bytes: [UInt8], _ columns: CSVColumns, _ line: Int) {
    let fields = CSVFields(bytes.span, raw.startIndex..<raw.endIndex, delimiter: columns.delimiter)
    func value(_ index: Int?) -> ArraySlice<UInt8>? { index.flatMap { fields[$0]?.value(in: bytes) } }
    self.init(line: line, raw: raw, value(columns.receipt).map(Content.receipt) ?? .rejected(.malformedRow))
    app = value(columns.app)
    userID = value(columns.userID)
  }

  fileprivate init(json raw: ArraySlice<UInt8>, line: Int) {
    self.init(line: line, raw: raw, .rejected(.malformedRow))
    guard let object = Self.object(raw) else { return }
    content = .rejected(.empty)
    for member in object.members {
      switch ColumnName(member.key.utf8) {
      case .app: app = Self.text(member.value)
      case .userID: userID = Self.text(member.value)
      case .receipt: if let receipt = Self.text(member.value) { content = .receipt(receipt) }
      case .reason, nil: continue
      }
    }
  }

  /// The JSON object that a line is; its length is bounded by whoever cut the input into rows.
  static func object(_ raw: ArraySlice<UInt8>) -> JSONObject? {
    (try? JSONReader.read(Array(raw), limits: JSONLimits(bytes: raw.count, depth: JSONLimits.standard.depth)))?.object
  }

  /// Strings, and numbers as they stand.
  private static func text(_ value: JSONValue) -> ArraySlice<UInt8>? {
    switch value {
    case .string(let text): Array(text.utf8)[...]
    case .integer, .number: value.encoded()[...]
    case .null, .bool, .array, .object: nil
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var firstLine: Self { prefix { $0 != 0x0A }.withoutReturn }
}
