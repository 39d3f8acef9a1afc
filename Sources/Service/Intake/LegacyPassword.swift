import JSON
import Ledger
package import Signing

/// Takes the shared secret out of a V1 body before the body is kept: a code stands in its place.
///
/// The code recognises the secret again (and lets it be put back) without telling it to whoever reads the table.
package enum LegacyPassword {
  /// False for what Apple posts all day, a `signedPayload` and nothing else: a second member needs more quotation marks.
  static func mayBe(in body: [UInt8]) -> Bool {
    var marks = 0
    for byte in body where byte == UInt8(ascii: "\"") { marks += 1 }
    return marks > 4
  }

  /// The body with every `password`, at whatever depth, and every other text that repeats one replaced; the same body
  /// when there is none.
  ///
  /// Only for a body as it came: a code in it is a stranger's, and is a secret like any other.
  static func redacted(_ body: [UInt8], key: MasterKey) -> [UInt8] {
    guard let value = try? JSONReader.read(body) else { return body }
    var secrets: Set<JSONValue> = []
    collect(from: value, into: &secrets)
    guard !secrets.isEmpty else { return body }
    let codes = Dictionary(uniqueKeysWithValues: secrets.map { ($0, code(for: $0, key)) })
    // Byte for byte as it came but for the secret, if that is all that stands in the way of it; else (a decoy, a
    // second place, escapes we would not write, a number) the whole is written anew, members in their order.
    if let secret = secrets.first, secret.string != nil, let code = codes[secret],
      let range = body.firstRange(of: secret.encoded())
    {
      var short = body
      short.replaceSubrange(range, with: JSONValue.string(code.text).encoded())
      if (try? JSONReader.read(short)) == replaced(value, codes.mapValues { .string($0.text) }) { return short }
    }
    return replaced(value, codes.mapValues { .string($0.text + rewritten) }).encoded()
  }

  /// The code of the secret in a body as it came; nil when it has no `password`.
  static func code(ofReceived body: JSONObject, key: MasterKey) -> SecretCode? {
    body["password"]?.string.map { code(for: .string($0), key) }
  }

  /// The code in a redacted body; nil when it has no `password`.
  static func code(in body: JSONObject) -> SecretCode? { body["password"]?.string.flatMap(code(text:)) }

  /// A body with its secret in place again.
  package struct Restored: Hashable, Sendable {
    package let body: [UInt8]
    /// Whether every byte is as it was received; else the same JSON, written anew.
    package let isAsReceived: Bool
  }

  /// The body as it was received, from a redacted one and the secrets that may have been in it; nil when one is missing
  /// among them.
  ///
  /// - Parameter secrets: the app's shared secrets, the retired ones too.
  package static func restored(_ body: [UInt8], secrets: [[UInt8]], keys: Keyring) -> Restored? {
    guard let value = try? JSONReader.read(body) else { return Restored(body: body, isAsReceived: true) }
    var codes: Set<JSONValue> = []
    collect(from: value, into: &codes)
    guard !codes.isEmpty else { return Restored(body: body, isAsReceived: true) }
    var found: [JSONValue: JSONValue] = [:]
    for text in codes {
      guard let code = text.string.flatMap(code(text:)),
        let secret = secrets.first(where: { secret in
          keys.keys.contains { SecretCode(of: secret, under: $0).matches(code) }
        })
      else { return nil }
      found[text] = .string(String(decoding: secret, as: UTF8.self))
    }
    if let (code, secret) = found.first, found.count == 1, code.string?.hasSuffix(rewritten) == false,
      let range = body.firstRange(of: code.encoded())
    {
      var whole = body
      whole.replaceSubrange(range, with: secret.encoded())
      return Restored(body: whole, isAsReceived: true)
    }
    return Restored(body: replaced(value, found).encoded(), isAsReceived: false)
  }

  private static func collect(from value: JSONValue, into secrets: inout Set<JSONValue>) {
    switch value {
    case .object(let object):
      for member in object {
        switch member.value {
        case .string, .integer, .number: if member.key == "password" { secrets.insert(member.value) }
        case .null, .bool: break
        case .array, .object: collect(from: member.value, into: &secrets)
        }
      }
    case .array(let values): for value in values { collect(from: value, into: &secrets) }
    case .null, .bool, .integer, .number, .string: break
    }
  }

  private static func replaced(_ value: JSONValue, _ codes: [JSONValue: JSONValue]) -> JSONValue {
    switch value {
    case .object(let object):
      .object(
        JSONObject(
          uniqueMembers: object.map { member in
            let code = member.key == "password" ? codes[member.value] : nil
            return JSONObject.Member(key: member.key, value: code ?? replaced(member.value, codes))
          }))
    case .array(let values): .array(values.map { replaced($0, codes) })
    // An empty password says nothing of the empty texts elsewhere.
    case .string(let text): text.isEmpty ? value : codes[value] ?? value
    case .null, .bool, .integer, .number: value
    }
  }

  private static func code(for secret: JSONValue, _ key: MasterKey) -> SecretCode {
    SecretCode(of: secret.string.map { Array($0.utf8) } ?? secret.encoded(), under: key)
  }

  private static func code(text: String) -> SecretCode? {
    SecretCode(text.hasSuffix(rewritten) ? String(text.dropLast(rewritten.count)) : text)
  }

  /// After the code in a body of which other bytes than the secret's had to change.
  private static let rewritten = ":rewritten"

  /// What puts the secrets back into stored bodies before they are forwarded, from those of the apps in `registry`.
  static func restoring(from registry: Registry, keys: Keyring) -> @Sendable (StoredMessage) throws -> [UInt8] {
    { stored in
      let body = stored.message.body
      guard mayBe(in: body) else { return body }
      let secrets = registry.directory.sharedSecrets(of: stored.app, with: keys)
      guard let restored = restored(body, secrets: secrets, keys: keys) else { throw Sealed() }
      return restored.body
    }
  }

  /// A secret was taken out of the body, and it is none of the app's that are here: it must not be sent as if it were
  /// whole.
  struct Sealed: Error {}
}
