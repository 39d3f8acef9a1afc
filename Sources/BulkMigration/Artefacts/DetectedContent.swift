import Backfill
import JSON
import Receipts
import Signing

/// What a cell, a line or a file of an old back end is, told by its content alone.
enum DetectedContent {
  /// A receipt of either kind, damaged or not.
  case receipt([UInt8])
  /// A bare JWS of any kind.
  case jws([UInt8])
  /// A stored answer, notification or answer of the App Store Server API: the object and its bytes.
  case message(JSONObject, [UInt8])
  /// An id by which Apple can be asked, and what stands beside it.
  case id(String, JSONObject)
  /// What is signed in a client library's object of a purchase.
  case signed([SignedMember], JSONObject)

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
      let text = TextUnwrapper.trimmed(bytes[...]).withoutDataURI
      guard let first = text.first else { throw RejectReason(.empty) }
      if first == UInt8(ascii: "{"), let object = Self.object(text) {
        if let inner = Self.requested(object) {
          bytes = Array(inner.utf8)
          continue
        }
        self = Self.told(object, Array(text))
        return
      }
      if first == UInt8(ascii: "["), let rows = Self.rows(text) {
        let answer: JSONObject = ["latest_receipt_info": .array(rows)]
        self = .message(answer, answer.encoded())
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
      guard let inner = TextUnwrapper.unwrapped(text) else { break }
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

  /// The rows of an answer of verifyReceipt, without the answer; nil for another array.
  private static func rows(_ text: ArraySlice<UInt8>) -> [JSONValue]? {
    let limits = JSONLimits(bytes: text.count, depth: JSONLimits.standard.depth)
    guard let items = try? JSONReader.read(Array(text), limits: limits).array, !items.isEmpty,
      items.allSatisfy({ $0.object?["transaction_id"] != nil || $0.object?["original_transaction_id"] != nil })
    else { return nil }
    return items
  }

  /// The receipt of a request to verifyReceipt; the password beside it is dropped.
  private static func requested(_ object: JSONObject) -> String? {
    ["receipt-data", "receipt_data", "receiptData"].lazy.compactMap { object[$0]?.string }.first
  }

  private static func told(_ object: JSONObject, _ bytes: [UInt8]) -> Self {
    guard !isMessage(object) else { return .message(object, bytes) }
    let signed = Array(SignedMember.all(in: object).prefix(mostSigned))
    if !signed.isEmpty { return .signed(signed, object) }
    return id(in: object).map { .id($0, object) } ?? .message(object, bytes)
  }

  /// Of the texts in an object those that are tried.
  private static let mostSigned = 4

  static func id(in object: JSONObject) -> String? {
    for key in [
      "originalTransactionId", "original_transaction_id", "transactionId", "transaction_id",
      "originalTransactionIdentifier", "transactionIdentifier",
    ] {
      switch object[key] {
      case .string(let id): return id
      case .integer(let id): return "\(id)"
      case .null, .bool, .number, .array, .object, nil: continue
      }
    }
    return nil
  }

  /// The answer or notification that a member of a row holds, as an object or as a JSON text; nil where there is none.
  static func message(in row: JSONObject) -> JSONObject? {
    guard row["status"] == nil, row["signedPayload"] == nil, row["notification_type"] == nil else { return nil }
    for member in row.members {
      guard let inner = member.value.object ?? member.value.string.flatMap({ object(Array($0.utf8)[...]) }),
        marks.contains(where: { inner[$0] != nil }), isMessage(inner)
      else { continue }
      var others = row
      others[member.key] = nil
      return SignedMember.all(in: others).isEmpty ? inner : nil
    }
    return nil
  }

  /// Members one of which an answer or a notification has; a status alone may be any table's.
  private static let marks = answerMembers + ["signedPayload", "notification_type", "signedTransactions"]
  private static let answerMembers = [
    "receipt", "latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info",
  ]

  /// Whether it is an artefact as a whole, and no row of a table with columns.
  static func isMessage(_ object: JSONObject) -> Bool {
    if object["signedPayload"] != nil || object["notification_type"] != nil { return true }
    if object["signedTransactions"] != nil || object["signedTransactionInfo"] != nil { return true }
    if object["signedRenewalInfo"] != nil || object["signedAppTransactionInfo"] != nil { return true }
    if object["data"]?.array != nil { return true }
    let hasAnswer = answerMembers.contains { object[$0]?.object != nil || object[$0]?.array != nil }
    if hasAnswer { return true }
    // A table of ids may have a status of its own.
    guard id(in: object) == nil, let status = object["status"] else { return false }
    let isNumber = status.integer != nil || status.string.flatMap { Int($0) } != nil
    return isNumber && (object["environment"] != nil || object.count <= 4)
  }
}
