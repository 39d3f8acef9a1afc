package import JSON
import Receipts
import Runtime

extension Row {
  /// A line with a receipt, and perhaps the reason of an earlier rejection behind a tab.
  init(receiptLine row: Row) {
    self = row
    guard isWhole else { return }
    let line = Self.withoutReason(raw)
    let receipt = line.prefix { $0 != CSVDialect.tab }
    // Anything else behind the tab may be a user, and is not dropped without a word.
    content = line[receipt.endIndex...].isBlank ? .receipt(receipt.withoutDataURI) : .rejected(.malformedRow)
    if let reason = Self.reason(behind: raw), reason.stays { content = .rejected(reason) }
  }

  /// Returns the reason behind the last tab of a line.
  private static func reason(behind line: ArraySlice<UInt8>) -> RejectReason? {
    line.lastIndex(of: UInt8(ascii: "\t")).flatMap { RejectReason(known: line[($0 + 1)...]) }
  }

  /// Returns the line without the reason of an earlier rejection.
  static func withoutReason(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let tab = line.lastIndex(of: UInt8(ascii: "\t")) else { return line }
    let last = line[(tab + 1)...]
    return last.isBlank || RejectReason.isKnown(last) ? line[..<tab] : line
  }

  /// A JSON object.
  ///
  /// Rejects have a row that could not be read as `input`.
  init(json row: Row, _ named: NamedColumns) {
    self = row
    guard isWhole else { return }
    content = .rejected(.malformedRow)
    guard let object = Self.object(raw) else { return }
    if let reason = Self.earlierReason(of: object), reason.stays {
      content = .rejected(reason)
    } else if let input = object["input"]?.string,
      !object.contains(where: { named.ranked($0.key)?.column == .receipt })
    {
      if let mended = Self.object(Array(input.utf8)[...]) { take(mended, named) }
    } else {
      take(object, named)
    }
  }

  /// An element of a JSON array: an object as on a line, or a receipt in quotes.
  init(element row: Row, _ named: NamedColumns) {
    self = row
    guard isWhole, let first = raw.first else { return }
    switch first {
    case UInt8(ascii: "{"): self.init(json: row, named)
    case UInt8(ascii: "\""):
      let value = try? JSONReader.read(
        Array(raw), limits: JSONLimits(bytes: raw.count, depth: JSONLimits.standard.depth))
      content = value?.string.map { .receipt(Array($0.utf8)[...].withoutDataURI) } ?? .rejected(.malformedRow)
    default: content = .receipt(raw)
    }
  }

  private mutating func take(_ object: JSONObject, _ named: NamedColumns) {
    content = .rejected(.empty)
    var ranks: [ColumnName: Int] = [:]
    var best = Int.max
    for member in object.members {
      if let rank = ColumnName.rankOfID(member.key.utf8), rank < best, let text = Self.text(member.value) {
        (id, best) = (text, rank)
      }
      guard let (column, rank) = named.ranked(member.key), rank < ranks[column] ?? .max else { continue }
      let text = Self.text(member.value)
      switch column {
      case .app: app = text
      // A missing id is not replaced by a name: it could be the id of somebody else.
      case .userID: userID = text?.user
      case .receipt:
        guard let text else { continue }
        content = .receipt(text.withoutDataURI)
        holdsNamedReceipt = named.receipt != nil
      case .reason: break
      }
      ranks[column] = rank
    }
  }

  /// The object that the row is; nil where it is none.
  package var object: JSONObject? { isWhole ? Self.object(raw) : nil }

  /// Whether its app is written as Apple's bundle ids are; tables may know their apps by other names.
  package var namesBundleID: Bool { app.map { CSVColumns.isBundleID($0) } ?? false }

  package static func isBundleID(_ name: String) -> Bool { CSVColumns.isBundleID(Array(name.utf8)[...]) }

  /// Returns the JSON object on a line.
  ///
  /// Its length is bounded by `RowLimits.row`.
  static func object(_ raw: ArraySlice<UInt8>) -> JSONObject? {
    (try? JSONReader.read(Array(raw), limits: JSONLimits(bytes: raw.count, depth: JSONLimits.standard.depth)))?.object
  }

  /// Returns the reason of an earlier rejection.
  static func earlierReason(of object: JSONObject) -> RejectReason? {
    object["reason"]?.string.flatMap { RejectReason(known: Array($0.utf8)[...]) }
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
