import JSON
import Receipts
import Runtime
import Signing

/// Rejected rows as they came, with the reason: mend them, and feed the file again.
///
/// A table gets a last column, an object a member, a receipt a word after a tab. Rows of several files become JSON
/// Lines, since one file has to hold them all.
enum Rejection {
  static func append(_ row: Row, _ reason: RejectReason, of block: Block, to output: inout [UInt8]) {
    if let file = block.file { return appendNamed(row, file, reason, to: &output) }
    switch block.format {
    case .csv(let columns):
      var raw = row.raw
      if columns.endsWithReason, let last = raw.lastIndex(of: columns.delimiter) { raw = raw[..<last] }
      output.append(contentsOf: raw)
      output.append(columns.delimiter)
      output.append(contentsOf: reason.code.utf8)
    case .jsonLines: appendObject(row, reason, to: &output)
    case .receiptLines:
      output.append(contentsOf: row.raw.prefix { $0 != UInt8(ascii: "\t") })
      output.append(UInt8(ascii: "\t"))
      output.append(contentsOf: reason.code.utf8)
    case .wholeFile: return appendNamed(row, nil, reason, to: &output)
    }
    output.append(0x0A)
  }

  /// What stands above the first rejected row.
  static func heading(of format: RowFormat, isNamed: Bool) -> [UInt8]? {
    guard case .csv(let columns) = format, let header = columns.header, !isNamed else { return nil }
    if columns.endsWithReason { return header + [0x0A] }
    return header + [columns.delimiter] + Array("reason".utf8) + [0x0A]
  }

  private static func appendObject(_ row: Row, _ reason: RejectReason, to output: inout [UInt8]) {
    guard var object = Row.object(row.raw) else {
      let text = String(decoding: row.raw, as: UTF8.self)
      return JSONObject([("input", .string(text)), ("reason", .string(reason.code))]).append(to: &output)
    }
    object["reason"] = .string(reason.code)
    object.append(to: &output)
  }

  private static func appendNamed(
    _ row: Row, _ file: String?, _ reason: RejectReason, to output: inout [UInt8]
  ) {
    var object: JSONObject = [:]
    object["file"] = file.map(JSONValue.string)
    object["line"] = .integer(Int64(row.line))
    object["app"] = row.app.map { .string(String(decoding: $0, as: UTF8.self)) }
    object["user_id"] = row.userID.map { .string(String(decoding: $0, as: UTF8.self)) }
    let receipt: ArraySlice<UInt8> =
      switch row.content {
      case .receipt(let receipt): receipt
      case .rejected: row.raw
      }
    // Bytes of a receipt are no text; base64 is read again.
    let text = String(validating: receipt, as: UTF8.self)
    object["receipt"] = .string(text ?? String(decoding: Base64.standard.encode(Array(receipt)), as: UTF8.self))
    object["reason"] = .string(reason.code)
    object.append(to: &output)
    output.append(0x0A)
  }
}
