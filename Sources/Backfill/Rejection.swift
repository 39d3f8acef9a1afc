import JSON
import Receipts
import Runtime
import Signing

/// Rejected rows as they came, with the reason, to be mended and fed again.
///
/// A table gets a last column, an object a member, a receipt a word after a tab. Rows of several files become JSON
/// Lines where one file has to hold them all. Read again as they are, they are rejected again, and written the same.
package enum Rejection {
  /// Appends a rejected row.
  ///
  /// - Parameters:
  ///   - isNamed: whether rows of several files are written to one, so that each row names its file.
  ///   - formulas: counts the cells of a table that a spreadsheet would run.
  package static func append(
    _ row: Row, _ reason: RejectReason, of block: Block, isNamed: Bool, _ formulas: inout FormulaCells,
    to output: inout [UInt8]
  ) {
    if isNamed { return appendNamed(row, block.file, reason, to: &output) }
    switch block.format {
    case .csv(let columns): CSVRejection(columns).append(row, reason, &formulas, to: &output)
    case .jsonLines, .jsonArray:
      appendObject(row, reason, to: &output)
      output.append(0x0A)
    case .receiptLines:
      output.append(contentsOf: Row.withoutReason(row.raw))
      output.append(UInt8(ascii: "\t"))
      output.append(contentsOf: reason.code.utf8)
      output.append(0x0A)
    case .wholeFile: appendNamed(row, nil, reason, to: &output)
    }
  }

  /// Returns the header of the rejects; nil when there is none.
  package static func heading(of format: RowFormat, isNamed: Bool) -> [UInt8]? {
    guard case .csv(let columns) = format, !isNamed else { return nil }
    return CSVRejection(columns).heading
  }

  private static func appendObject(_ row: Row, _ reason: RejectReason, to output: inout [UInt8]) {
    guard var object = Row.object(row.raw), !hasOwnReason(object) else {
      let text = String(decoding: row.raw, as: UTF8.self)
      return JSONObject([("input", .string(text)), ("reason", .string(reason.code))]).append(to: &output)
    }
    object["reason"] = .string(reason.code)
    object.append(to: &output)
  }

  /// Returns whether `reason` is a member of the input and not of an earlier rejection.
  private static func hasOwnReason(_ object: JSONObject) -> Bool {
    switch object["reason"] {
    case nil, .null: false
    case .string(let text): !Array(text.utf8)[...].isBlank && Row.earlierReason(of: object) == nil
    case .bool, .integer, .number, .array, .object: true
    }
  }

  private static func appendNamed(
    _ row: Row, _ file: String?, _ reason: RejectReason, to output: inout [UInt8]
  ) {
    var object: JSONObject = [:]
    object["file"] = file.map(JSONValue.string)
    object["line"] = .integer(Int64(row.line))
    object["app"] = row.app.map { .string(String(decoding: $0, as: UTF8.self)) }
    object["user_id"] = row.userID.map { .string(String(decoding: $0, as: UTF8.self)) }
    switch row.content {
    case .receipt(let receipt):
      // Bytes of a receipt are no text; base64 is read again.
      let text = String(validating: receipt, as: UTF8.self)
      object["receipt"] = .string(text ?? String(decoding: Base64.standard.encode(Array(receipt)), as: UTF8.self))
    case .rejected: object["input"] = .string(String(decoding: row.raw, as: UTF8.self))
    }
    object["reason"] = .string(reason.code)
    object.append(to: &output)
    output.append(0x0A)
  }
}
