import Backfill
import JSON
import Receipts
import Signing

/// What a cell, a line or a file of an old back end is, told by its content alone.
enum Artefact {
  /// A receipt of either kind, damaged or not.
  case receipt([UInt8])
  /// A bare JWS of any kind.
  case jws([UInt8])
  /// A stored answer, notification or answer of the App Store Server API: the object and its bytes.
  case message(JSONObject, [UInt8])
  /// An id by which Apple can be asked, and what stands beside it.
  case id(String, JSONObject)

  /// Wrappings within wrappings.
  private static let layers = 8
  /// Longer ones are no ids of Apple's.
  private static let longestID = 40

  init(_ given: ArraySlice<UInt8>) throws(RejectReason) {
    var bytes = Array(given)
    for _ in 0...Self.layers {
      if bytes.count > 1, bytes[0] == 0x30, bytes[1] >= 0x80 {
        self = .receipt(bytes)
        return
      }
      let text = MendedText.trimmed(bytes[...])
      guard let first = text.first else { throw RejectReason(.empty) }
      if first == UInt8(ascii: "{"), let object = Self.object(text) {
        if let inner = Self.requested(object) {
          bytes = Array(inner.utf8)
          continue
        }
        self = Self.told(object, Array(text))
        return
      }
      if text.count <= Self.longestID, text.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
        self = .id(String(decoding: text, as: UTF8.self), [:])
        return
      }
      if text.starts(with: "eyJ".utf8), text.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
        self = .jws(Array(text))
        return
      }
      guard let inner = MendedText.unwrapped(text) else { break }
      bytes = inner
    }
    self = .receipt(bytes)
  }

  /// Of an object that was read as one.
  init(_ object: JSONObject, _ bytes: [UInt8]) throws(RejectReason) {
    if let inner = Self.requested(object) {
      try self.init(Array(inner.utf8)[...])
    } else {
      self = Self.told(object, bytes)
    }
  }

  private static func object(_ text: ArraySlice<UInt8>) -> JSONObject? {
    (try? JSONReader.read(Array(text), limits: JSONLimits(bytes: text.count, depth: JSONLimits.standard.depth)))?.object
  }

  /// The receipt of a request to verifyReceipt; the password beside it is dropped.
  private static func requested(_ object: JSONObject) -> String? {
    ["receipt-data", "receipt_data", "receiptData"].lazy.compactMap { object[$0]?.string }.first
  }

  private static func told(_ object: JSONObject, _ bytes: [UInt8]) -> Self {
    guard !isMessage(object) else { return .message(object, bytes) }
    for key in [
      "originalTransactionId", "original_transaction_id", "transactionId", "transaction_id",
      "originalTransactionIdentifier", "transactionIdentifier",
    ] {
      switch object[key] {
      case .string(let id): return .id(id, object)
      case .integer(let id): return .id("\(id)", object)
      case .null, .bool, .number, .array, .object, nil: continue
      }
    }
    return .message(object, bytes)
  }

  /// Whether it is an artefact as a whole, and no row of a table with columns.
  static func isMessage(_ object: JSONObject) -> Bool {
    if object["signedPayload"] != nil || object["notification_type"] != nil { return true }
    if object["signedTransactions"] != nil || object["signedTransactionInfo"] != nil { return true }
    if object["signedRenewalInfo"] != nil || object["signedAppTransactionInfo"] != nil { return true }
    if object["data"]?.array != nil { return true }
    let answers = ["receipt", "latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info"]
    let hasAnswer = answers.contains { object[$0]?.object != nil || object[$0]?.array != nil }
    guard let status = object["status"] else { return hasAnswer }
    let isNumber = status.integer != nil || status.string.flatMap { Int($0) } != nil
    return isNumber && (hasAnswer || object["environment"] != nil || object.count <= 4)
  }
}
