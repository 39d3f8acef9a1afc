import JSON
import Receipts
import Signing

/// The format of a body, determined only by its content, because one URL receives both generations.
enum MessageFormat {
  /// `{"signedPayload": "…"}` with this JWS.
  case notificationV2(jws: [UInt8])
  /// `{"notification_type": …}`
  case notificationV1(JSONObject)
  case jws([UInt8])
  /// A receipt, in base64 or its own bytes.
  case receipt([UInt8])
  /// Another object: a response of either generation or a part of one, a receipt in its request, an ID.
  case object(JSONObject)

  init(_ body: [UInt8], limits: JSONLimits = .standard) throws(MessageError) {
    self = try Self.read(body, limits: limits).told
  }

  /// Classifies a body, and returns the parsed object; `nil` if none was parsed.
  static func read(_ body: [UInt8], limits: JSONLimits) throws(MessageError) -> (told: Self, object: JSONObject?) {
    let trimmed = body.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    if looksLikeReceipt(trimmed) { return (.receipt(body), nil) }
    let inURI = trimmed.withoutDataURI
    if inURI.count < trimmed.count { return (.receipt(Array(inURI)), nil) }
    if trimmed.first != UInt8(ascii: "{"), trimmed.contains(UInt8(ascii: ".")) {
      return (.jws(Array(trimmed.reversed().drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }.reversed())), nil)
    }
    if looksLikeTransactionReceipt(trimmed) { return (.receipt(body), nil) }
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.read(body, limits: limits) } catch { throw MessageError(error) }
    guard let object = value.object else {
      throw MessageError(.unreadable, .notAMessage, "the body is JSON, but no object")
    }
    return (Self(object), object)
  }

  init(_ object: JSONObject) {
    if let jws = object["signedPayload"]?.string {
      self = .notificationV2(jws: Array(jws.utf8))
    } else if object["notification_type"] != nil {
      self = .notificationV1(object)
    } else {
      self = .object(object)
    }
  }

  /// Whether the text is base64 of a DER sequence longer than 127 bytes, or such a sequence itself.
  private static func looksLikeReceipt(_ text: ArraySlice<UInt8>) -> Bool {
    text.starts(with: "MI".utf8) || text.starts(with: [0x30, 0x82]) || text.starts(with: [0x30, 0x83])
      || text.starts(with: [0x30, 0x80])
  }

  /// Whether the text is base64 that begins with `{`, like a receipt of iOS 6.
  private static func looksLikeTransactionReceipt(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.first == UInt8(ascii: "e"), let second = text.dropFirst().first else { return false }
    return "wxyz0123456789+/".utf8.contains(second)
  }
}
