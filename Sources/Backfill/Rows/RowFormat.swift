import Purchases
import Receipts

/// How the rows of an input are written, told by how it begins.
package enum RowFormat: Hashable, Sendable {
  case csv(CSVColumns)
  /// One JSON object a line.
  case jsonLines
  /// The elements of a JSON array, on any number of lines.
  case jsonArray
  /// One receipt a line; a tab and a reason may follow, as rejects have it.
  case receiptLines
  /// The whole input is one receipt: its own bytes, or base64 broken into lines.
  case wholeFile

  /// For the summary.
  package var name: String {
    switch self {
    case .csv: "csv"
    case .jsonLines: "jsonl"
    case .jsonArray: "json"
    case .receiptLines: "lines"
    case .wholeFile: "receipt"
    }
  }

  /// Returns the format of an input and the index of its first row; nil when more of the input is needed.
  ///
  /// - Parameters:
  ///   - beginning: two lines of the input, if they are not too long; without a byte order mark.
  ///   - isAll: whether that is the whole input.
  ///   - named: the headers that an operator named.
  static func told(
    by beginning: [UInt8], isAll: Bool, named: NamedColumns = NamedColumns()
  ) -> (format: RowFormat, body: Int)? {
    if beginning.count > 1, beginning[0] == 0x30, beginning[1] >= 0x80 { return (.wholeFile, 0) }
    let lines = beginning.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false).map(\.withoutReturn)
    let first = lines.first { !$0.isBlank } ?? []
    if isReceiptLine(first, of: beginning, isAll: isAll) || first.withoutDataURI.count < first.count {
      return (.receiptLines, 0)
    }
    if isJSONArray(beginning) { return (.jsonArray, 0) }
    if first.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") { return (isJSON(first) ? .jsonLines : .wholeFile, 0) }
    // Blank lines may stand above a table.
    let start = first.startIndex
    switch CSVColumns.told(by: beginning, from: first.isEmpty ? beginning.count : start, isAll: isAll, named: named) {
    case .table(let columns, let body): return (.csv(columns), body)
    case .unfinished: return nil
    case .noTable:
      if lines.count > 1, isWrapped(lines[0], lines[1]) { return (.wholeFile, 0) }
      return (.receiptLines, 0)
    }
  }

  /// Returns whether the first line of an input is `receipt<tab>reason`, as in rejects.
  ///
  /// The reason of a mended line may be empty. Then the other lines tell: where one has something else behind the tab,
  /// it is a table of receipts and users whose first row has no user.
  private static func isReceiptLine(_ first: ArraySlice<UInt8>, of beginning: [UInt8], isAll: Bool) -> Bool {
    let fields = first.split(separator: CSVDialect.tab, omittingEmptySubsequences: false)
    guard fields.count > 1, !first.contains(CSVDialect.carriageReturn) else { return false }
    // Rejected for what else is in the line. The rejects of tables have a header.
    if fields.count > 2 {
      return fields[0].count > 200 && RejectReason(known: fields[fields.count - 1]) == .malformedRow
    }
    if RejectReason.isKnown(fields[1]) { return true }
    guard fields[1].isBlank, fields[0].count > 200, fields[0].first != UInt8(ascii: "{") else { return false }
    // The last line may be cut.
    return beginning.split(separator: CSVDialect.lineFeed).dropLast(isAll ? 0 : 1).allSatisfy { line in
      guard let tab = line.firstIndex(of: CSVDialect.tab) else { return true }
      let tail = line[(tab + 1)...].withoutReturn
      return tail.isBlank || RejectReason.isKnown(tail)
    }
  }

  /// An opening bracket, and then an element that a table or a receipt does not begin with.
  private static func isJSONArray(_ beginning: [UInt8]) -> Bool {
    let text = beginning.drop { $0 <= 0x20 }
    guard text.first == UInt8(ascii: "["), let next = text.dropFirst().first(where: { $0 > 0x20 }) else { return false }
    return next == UInt8(ascii: "{") || next == UInt8(ascii: "\"") || next == UInt8(ascii: "]")
      || next == UInt8(ascii: "[")
  }

  /// An object begins with a quoted key, a property list (of an iOS 6 receipt) has a line break or `=`.
  private static func isJSON(_ line: ArraySlice<UInt8>) -> Bool {
    let inside = line.drop { $0 <= 0x20 }.dropFirst().drop { $0 <= 0x20 }
    guard let byte = inside.first else { return false }
    if byte == UInt8(ascii: "}") { return true }
    guard byte == UInt8(ascii: "\"") else { return false }
    return inside.dropFirst().drop { $0 != UInt8(ascii: "\"") }.dropFirst().first { $0 > 0x20 } == UInt8(ascii: ":")
  }

  /// Base64 in lines of 64 or 76: no receipt is as short as one of them.
  private static func isWrapped(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
    (48...100).contains(first.count) && !second.isEmpty && second.count <= first.count
      && first.allSatisfy(\.isBase64) && second.allSatisfy(\.isBase64)
      && (second.count == first.count || !second.starts(with: first.prefix(4)))
  }
}

extension ArraySlice<UInt8> {
  /// A line without the carriage returns of its line end.
  var withoutReturn: Self {
    var line = self
    for _ in 0..<CSVDialect.mostReturns where line.last == CSVDialect.carriageReturn { line.removeLast() }
    return line
  }

  var isBlank: Bool { allSatisfy { $0 <= 0x20 } }

  /// The user that a value names, if it names any.
  var user: Self? {
    // Most values begin with a letter or digit, and are longer than the words for nothing.
    if let first, first > 0x20, first < 0x80, count > 36 { return self }
    return UserID.isNobody(String(decoding: self, as: UTF8.self)) ? nil : self
  }
}

extension UInt8 {
  /// A letter of either base64 alphabet, or padding.
  var isBase64: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
      UInt8(ascii: "_"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}
