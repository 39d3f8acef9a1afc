import JSON
import Signing

/// Takes the shared secret out of a V1 body before the body is kept: a code stands in its place.
///
/// The code recognises the secret again (and lets it be put back) without telling it to whoever reads the table.
enum LegacyPassword {
  /// The body with `password` replaced; the same body when it has none.
  static func redacted(_ body: [UInt8], key: MasterKey) -> [UInt8] {
    guard let object = try? JSONReader.read(body).object, let password = object["password"]?.string else { return body }
    let code = "hmac-sha256:\(key.id):\(key.code(for: Array(password.utf8), purpose: "v1 password").hex)"
    if let range = range(ofValue: JSONValue.string(password).encoded(), in: body) {
      var redacted = body
      redacted.replaceSubrange(range, with: JSONValue.string(code).encoded())
      return redacted
    }
    // Written with escapes we would not write: then the object is written anew, members in their order.
    var rewritten = object
    rewritten["password"] = .string(code)
    return rewritten.encoded()
  }

  /// Where the value of the member `password` stands, if it is written as `value`.
  private static func range(ofValue value: [UInt8], in body: [UInt8]) -> Range<Int>? {
    let key = Array("\"password\"".utf8)
    var start = 0
    while let found = body[start...].firstRange(of: key) {
      var offset = found.upperBound
      while offset < body.count, [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains(body[offset]) { offset += 1 }
      if body[offset...].starts(with: value) { return offset..<offset + value.count }
      start = found.upperBound
    }
    return nil
  }
}
