import JSON
import Signing

/// Takes the shared secret out of a body before the body is kept: a code stands in its place.
///
/// The code recognises the secret again (and lets it be put back) without telling it to whoever reads the table.
enum LegacyPassword {
  /// The body with `password` replaced, members in their order; the same bytes when it has none.
  static func redacted(_ body: [UInt8], key: MasterKey) -> [UInt8] {
    guard var object = try? JSONReader.read(body).object, let password = object["password"], !password.isNull else {
      return body
    }
    if let text = password.string, text.hasPrefix(mark) { return body }
    let secret = password.string.map { Array($0.utf8) } ?? password.encoded()
    object["password"] = .string("\(mark)\(key.id):\(key.code(for: secret, purpose: "v1 password").hex)")
    return object.encoded()
  }

  private static let mark = "hmac-sha256:"
}
