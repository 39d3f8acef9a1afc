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

  /// The body with every `password`, at whatever depth, and every other text that repeats one replaced by its code, and
  /// what `HiddenSecrets` finds by a marker; the same body when there is nothing of the kind.
  ///
  /// Only for a body as it came: a code in it is a stranger's, and is a secret like any other.
  ///
  /// - Parameter isKnown: whether a code is of a registered secret.
  static func redacted(
    _ body: [UInt8], limits: JSONLimits = .standard, key: MasterKey,
    isKnown: @escaping HiddenSecrets.Known = { _ in false }
  ) -> [UInt8] {
    guard let value = try? JSONReader.read(body, limits: limits) else {
      var hidden = HiddenSecrets(key: key, isKnown: isKnown)
      return HiddenSecrets.hasDigits(in: body) ? hidden.removed(fromText: body) : body
    }
    var secrets: Set<JSONValue> = []
    collect(from: value, into: &secrets)
    // Apple sends one. Of more than a few no code is made: nobody will ask to have them back.
    let codes: [JSONValue: String] =
      secrets.count > mostCoded
      ? Dictionary(uniqueKeysWithValues: secrets.map { ($0, HiddenSecrets.marker) })
      : Dictionary(uniqueKeysWithValues: secrets.map { ($0, code(for: $0, key).text) })
    let short = codes.isEmpty ? value : replaced(value, codes.mapValues(JSONValue.string))
    var hidden = HiddenSecrets(key: key, told: told(codes), isKnown: isKnown)
    _ = hidden.removed(from: short)
    if hidden.isFound {
      let marked = codes.mapValues { $0 == HiddenSecrets.marker ? $0 : $0 + rewritten }
      var again = HiddenSecrets(key: key, told: told(marked), isKnown: isKnown)
      return again.removed(from: replaced(value, marked.mapValues(JSONValue.string))).encoded()
    }
    guard !secrets.isEmpty else { return body }
    // Byte for byte as it came but for the secret, if that is all that stands in the way of it; else (a decoy, a
    // second place, escapes we would not write, a number) the whole is written anew, members in their order.
    if secrets.count == 1, let secret = secrets.first, secret.string != nil, let code = codes[secret],
      let range = body.firstRange(of: secret.encoded())
    {
      var bytes = body
      bytes.replaceSubrange(range, with: JSONValue.string(code).encoded())
      if (try? JSONReader.read(bytes, limits: limits)) == short { return bytes }
    }
    return replaced(value, codes.mapValues { .string($0 == HiddenSecrets.marker ? $0 : $0 + rewritten) }).encoded()
  }

  /// Distinct passwords of one body that get a code each.
  private static let mostCoded = 16

  /// As texts, with what stands in their places: a number and the text of its digits have the same code.
  private static func told(_ codes: [JSONValue: String]) -> [String: String] {
    let texts = codes.map { secret, code in
      (secret.string ?? String(decoding: secret.encoded(), as: UTF8.self), code)
    }
    return Dictionary(texts) { first, _ in first }
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
