import JSON
import Signing

/// What a body is, told by its content alone: one URL receives both generations.
enum Detection {
  /// `{"signedPayload": "…"}`, of which this is the JWS.
  case notificationV2(jws: [UInt8])
  /// `{"notification_type": …}`
  case notificationV1(JSONObject)
  /// A bare JWS of any kind.
  case jws([UInt8])
  /// An answer of the App Store Server API, or a piece of one.
  case answer(JSONObject)

  init(_ body: [UInt8]) throws(Refusal) {
    let trimmed = body.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    if trimmed.first != UInt8(ascii: "{"), Self.looksLikeJWS(trimmed) {
      self = .jws(Array(trimmed.reversed().drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }.reversed()))
      return
    }
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.read(body) } catch { throw Refusal(error) }
    guard let object = value.object else { throw Refusal(.unreadable, .notAMessage, "the body is JSON, but no object") }
    if let jws = object["signedPayload"]?.string {
      self = .notificationV2(jws: Array(jws.utf8))
    } else if object["notification_type"] != nil {
      self = .notificationV1(object)
    } else {
      self = .answer(object)
    }
  }

  /// A JWS begins with the base64url of `{"`.
  private static func looksLikeJWS(_ text: ArraySlice<UInt8>) -> Bool {
    text.starts(with: "eyJ".utf8) || text.contains(UInt8(ascii: "."))
  }
}
