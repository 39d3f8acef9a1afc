import JSON
import Receipts
import Wire

/// The body of a request to verifyReceipt, as far as it is readable.
///
/// Never throws, because a stranger's input is reported, not judged. JSON regardless of the content type, with or
/// without a byte order mark; otherwise a form, which some old clients send.
package struct VerifyReceiptRequestBody: Hashable, Sendable {
  /// Bytes; Apple's own limit.
  package static let longest = 3_145_728

  package private(set) var isReadable = false
  /// The receipt as received, perhaps damaged; `nil` without a text.
  package private(set) var receiptData: String?
  package private(set) var password: String?
  package private(set) var excludesOldTransactions = false

  /// A request has three members, one of them long.
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
/// A `+` stays unchanged: base64 has it more often than a form has spaces, and clients that escaped it sent `%2B`.
private struct PostedForm {
  private var values: [String: String] = [:]

  /// Returns `nil` without `receipt-data`.
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
