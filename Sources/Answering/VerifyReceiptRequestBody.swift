import JSON
import Receipts
import Wire

/// The body of a request to verifyReceipt, as far as it can be read.
///
/// Never throws: what a stranger sends is found, not judged. JSON whatever the content type says, with a byte order mark or
/// without; else a form, which some old clients send.
package struct VerifyReceiptRequestBody: Hashable, Sendable {
  /// Bytes; Apple's own limit.
  package static let longest = 3_145_728

  /// Whether it is an object, or a form with a receipt in it.
  package private(set) var isReadable = false
  /// As it came, damaged perhaps; nil when there is none that is a text.
  package private(set) var receiptData: String?
  package private(set) var password: String?
  package private(set) var excludesOldTransactions = false

  /// A request has three members, of which one is long: more of it is no request.
  private static let limits = JSONLimits(bytes: longest, depth: 8, values: 1_024)
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  package init(_ body: [UInt8]) {
    let text = body.starts(with: Self.byteOrderMark) ? Array(body.dropFirst(3)) : body
    if let object = (try? JSONReader.read(text, limits: Self.limits))?.object {
      let request = VerifyReceiptRequest(object)
      isReadable = true
      receiptData = request.receiptData
      password = request.password
      excludesOldTransactions = request.excludeOldTransactions ?? false
    } else if let form = PostedForm(text) {
      isReadable = true
      receiptData = form["receipt-data"]
      password = form["password"]
      excludesOldTransactions = ["true", "1"].contains(form["exclude-old-transactions"])
    }
  }
}

/// A body of `application/x-www-form-urlencoded`.
///
/// A `+` stays one: base64 has it more often than a form has spaces, and clients that escaped it sent `%2B`.
private struct PostedForm {
  private var values: [String: String] = [:]

  /// Nil for anything that has no `receipt-data`.
  init?(_ body: [UInt8]) {
    guard body.count <= VerifyReceiptRequestBody.longest, body.starts(with: "receipt-data=".utf8) || body.contains(0x26)
    else {
      return nil
    }
    for pair in body.split(separator: 0x26, maxSplits: 16) {
      let parts = pair.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let name = String(decoding: Self.unescaped(parts[0]), as: UTF8.self)
      if values[name] == nil { values[name] = String(decoding: Self.unescaped(parts[1]), as: UTF8.self) }
    }
    guard values["receipt-data"] != nil else { return nil }
  }

  subscript(name: String) -> String? { values[name] }

  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] { PercentEscapes.decoded(text) ?? Array(text) }
}
