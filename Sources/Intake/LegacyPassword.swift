package import Adapter
package import JSON
package import Ledger
import Runtime
package import Signing

/// Takes the shared secret out of a V1 body before the body is kept: a code stands in its place.
///
/// The code recognises the secret again (and lets it be put back) without telling it to whoever reads the table.
package enum LegacyPassword {
  /// False for what Apple posts all day, a `signedPayload` and nothing else.
  package static func mayBe(in body: [UInt8]) -> Bool { hasMore(in: body) || HiddenSecrets.mayBe(in: body) }

  /// Whether there may be more in a body than one member with its text: a second one needs more quotation marks.
  package static func hasMore(in body: [UInt8]) -> Bool {
    var marks = 0
    for byte in body where byte == UInt8(ascii: "\"") { marks += 1 }
    return marks > 4
  }

  /// The body with every `password`, at whatever depth, replaced by its code, and what `HiddenSecrets` finds by a marker.
  ///
  /// The same body when there is nothing of the kind. Of a body that is no JSON nothing is kept after a `password`.
  ///
  /// Only for a body as it came: a code in it is a stranger's, and is a secret like any other.
  ///
  /// - Parameter secrets: finds those that are registered.
  package static func redacted(
    _ body: [UInt8], limits: JSONLimits = .standard, key: MasterKey,
    secrets: SecretFilter = SecretFilter()
  ) -> [UInt8] {
    redaction(of: body, limits: limits, key: key, secrets: secrets).body
  }

  /// The same, and beside it the body with codes alone, as builds kept it that looked for nothing else.
  ///
  /// - Parameter isStored: whether it was kept by such a build, so that the codes in it are ours.
  package static func redaction(
    of body: [UInt8], isStored: Bool = false, limits: JSONLimits = .standard, key: MasterKey,
    secrets: SecretFilter = SecretFilter()
  ) -> (body: [UInt8], coded: [UInt8]) {
    guard let value = try? JSONReader.read(body, limits: limits) else {
      let short = secrets.redacted(body) ?? body
      return (HiddenSecrets.cut(short) ?? short, body)
    }
    let (short, coded) = redaction(of: body, value, isStored, key, secrets)
    return (short.bytes, coded.bytes)
  }

  /// The same of a body that was read already.
  ///
  /// What is kept instead of it is read again: a replay and a rebuild will have nothing else, and what they cannot read
  /// must be refused now.
  package static func redaction(
    of body: ReceivedBody, key: MasterKey, secrets: SecretFilter
  ) -> (body: ReceivedBody, coded: ReceivedBody) {
    guard let object = body.object else {
      let (short, coded) = redaction(of: body.bytes, key: key, secrets: secrets)
      return (short == body.bytes ? body : ReceivedBody(short), coded == body.bytes ? body : ReceivedBody(coded))
    }
    let (short, coded) = redaction(of: body.bytes, .object(object), false, key, secrets)
    return (short.received(instead: body), coded.received(instead: body))
  }

  /// A body with the value that is read of it; nil where it was written and has to be read.
  private struct Written {
    let bytes: [UInt8]
    var value: JSONValue?

    func received(instead body: ReceivedBody) -> ReceivedBody {
      if bytes == body.bytes { return body }
      return value?.object.map { ReceivedBody(bytes, of: $0) } ?? ReceivedBody(rewritten: bytes)
    }
  }

  private static func redaction(
    of body: [UInt8], _ value: JSONValue, _ isStored: Bool, _ key: MasterKey, _ secrets: SecretFilter
  ) -> (body: Written, coded: Written) {
    let members = PasswordPlaces.values(in: value)
    let ours = isStored ? Set(members.filter(isOurs)) : []
    let codes = codes(for: members, in: value, key).filter { !ours.contains($0.key) }
    let short = coded(value, codes, members.count)
    let coded = coded(body, value, short, codes, isStored)
    let places = ours.union(codes.values)
    var hidden = HiddenSecrets(secrets, codes: Set(places.compactMap(\.string)))
    let plain = hidden.removed(from: short)
    guard hidden.isFound else { return (coded, coded) }
    let whole = rewritten(plain, places, isStored)
    let bytes = whole.encoded()
    // What has no more values and is not too long is read as it was written: reading it takes as long as everything before.
    let isReadSo = bytes.count <= body.count && whole.object?["signedPayload"] == nil
    return (Written(bytes: bytes, value: isReadSo ? whole : nil), coded)
  }

  /// Whether a stored body has it in the place of a password.
  private static func isOurs(_ value: JSONValue) -> Bool {
    value.string.map { $0 == HiddenSecrets.marker || code(text: $0) != nil } ?? false
  }

  /// The code of each password; of Apple's alone where there are many.
  private static func codes(
    for members: [JSONValue], in value: JSONValue, _ key: MasterKey
  ) -> [JSONValue: JSONValue] {
    let ofApple = value.object?["password"]
    let passwords = members.count <= mostCoded ? members : members.filter { $0 == ofApple }
    return Dictionary(Set(passwords).map { ($0, .string(code(for: $0, key).text)) }) { code, _ in code }
  }

  /// The value with codes in the places of passwords, in that of Apple's alone where there are many.
  private static func coded(_ value: JSONValue, _ codes: [JSONValue: JSONValue], _ count: Int) -> JSONValue {
    if count <= mostCoded { return PasswordPlaces.filled(in: value, with: codes) }
    guard var object = value.object, let code = object["password"].flatMap({ codes[$0] }) else { return value }
    object["password"] = code
    return .object(object)
  }

  /// The body with codes in the places of passwords.
  ///
  /// Byte for byte as it came but for the secret, if that is all that stands in the way of it; else (a decoy, a second
  /// place, escapes we would not write, a number) the whole is written anew, members in their order.
  private static func coded(
    _ body: [UInt8], _ value: JSONValue, _ short: JSONValue, _ codes: [JSONValue: JSONValue],
    _ isStored: Bool
  ) -> Written {
    if codes.isEmpty { return Written(bytes: body, value: value) }
    if codes.count == 1, let (secret, code) = codes.first, secret.string != nil,
      let range = body.span.firstRange(of: secret.encoded().span, from: 0, before: body.count)
    {
      var bytes = body
      bytes.replaceSubrange(range, with: code.encoded())
      // A code is longer than the secret: a body of the greatest length has room for it.
      if (try? JSONReader.read(bytes, limits: .stored)) == short { return Written(bytes: bytes, value: short) }
    }
    return Written(bytes: rewritten(short, Set(codes.values), isStored).encoded())
  }

  /// Returns the value with each code marked as one of a body that was written anew.
  ///
  /// - Parameter isStored: whether codes in other texts are marked too: earlier builds put some there.
  private static func rewritten(_ value: JSONValue, _ codes: Set<JSONValue>, _ isStored: Bool) -> JSONValue {
    let others = codes.compactMap(\.string).map { (JSONValue.string($0), JSONValue.string(rewritten($0))) }
    return PasswordPlaces.filled(in: value, with: Dictionary(uniqueKeysWithValues: others), withTexts: isStored)
  }

  /// A code as it stands in a body that was written anew.
  private static func rewritten(_ code: String) -> String {
    code == HiddenSecrets.marker || code.hasSuffix(rewritten) ? code : code + rewritten
  }

  /// Places that get a code each.
  ///
  /// A code is longer than most passwords, and Apple sends one: nobody will ask to have more of them back.
  private static let mostCoded = 8

  /// The code of the secret in a body as it came; nil when it has no `password`.
  package static func code(ofReceived body: JSONObject, key: MasterKey) -> SecretCode? {
    body["password"]?.string.map { code(for: .string($0), key) }
  }

  /// The code in a redacted body; nil when it has no `password`.
  package static func code(in body: JSONObject) -> SecretCode? { body["password"]?.string.flatMap(code(text:)) }

  /// A body with its secret in place again.
  package struct Restored: Hashable, Sendable {
    package let body: [UInt8]
    /// Whether every byte is as it was received; else the same JSON, written anew.
    package let isAsReceived: Bool
  }

  /// The body as it was received, from a redacted one and the secrets that may have been in it; nil when the one that Apple
  /// puts there is missing among them.
  ///
  /// A `password` elsewhere in a body is none of Apple's. If it is unknown its code stays: whoever has the shared secret
  /// could otherwise make messages that cannot be forwarded, and that others wait for.
  ///
  /// - Parameter secrets: the app's shared secrets, the retired ones too.
  package static func restored(_ body: [UInt8], secrets: [[UInt8]], keys: Keyring) -> Restored? {
    guard let value = try? JSONReader.read(body, limits: .stored) else {
      // A code may stand in it that nobody could find: it is not what was received.
      let beginning = SecretCode.beginning
      let code = body.span.firstRange(of: beginning.span, from: 0, before: body.count)
      return code == nil ? Restored(body: body, isAsReceived: true) : nil
    }
    let codes = Set(PasswordPlaces.values(in: value))
    guard !codes.isEmpty else { return Restored(body: body, isAsReceived: true) }
    var found: [JSONValue: JSONValue] = [:]
    let ofApple = value.object?["password"]
    for text in codes {
      if let code = text.string.flatMap(code(text:)),
        let secret = secrets.first(where: { secret in
          keys.keys.contains { SecretCode(of: secret, under: $0).matches(code) }
        })
      {
        found[text] = .string(String(decoding: secret, as: UTF8.self))
      } else if text == ofApple || ofApple == nil {
        return nil
      }
    }
    if let (code, secret) = found.first, found.count == 1, code.string?.hasSuffix(rewritten) == false,
      let range = body.span.firstRange(of: code.encoded().span, from: 0, before: body.count)
    {
      var whole = body
      whole.replaceSubrange(range, with: secret.encoded())
      return Restored(body: whole, isAsReceived: codes.count == 1)
    }
    return Restored(body: PasswordPlaces.filled(in: value, with: found, withTexts: true).encoded(), isAsReceived: false)
  }

  private static func code(for secret: JSONValue, _ key: MasterKey) -> SecretCode {
    SecretCode(of: secret.string.map { Array($0.utf8) } ?? secret.encoded(), under: key)
  }

  private static func code(text: String) -> SecretCode? {
    SecretCode(text.hasSuffix(rewritten) ? String(text.dropLast(rewritten.count)) : text)
  }

  /// After the code in a body of which other bytes than the secret's had to change.
  static let rewritten = ":rewritten"
}
