import JSON
import Ledger
import Signing

/// Takes the shared secret out of a V1 body before the body is kept: a code stands in its place.
///
/// The code recognises the secret again (and lets it be put back) without telling it to whoever reads the table.
enum LegacyPassword {
  /// False for what Apple posts all day, a `signedPayload` and nothing else: a second member needs more quotation marks.
  static func mayBe(in body: [UInt8]) -> Bool {
    var marks = 0
    for byte in body where byte == UInt8(ascii: "\"") { marks += 1 }
    return marks > 4
  }

  /// The body with every `password`, at whatever depth, and every other text that repeats one replaced; the same body
  /// when there is none.
  static func redacted(_ body: [UInt8], key: MasterKey) -> [UInt8] {
    guard let value = try? JSONReader.read(body) else { return body }
    var secrets: Set<JSONValue> = []
    collect(from: value, into: &secrets)
    guard !secrets.isEmpty else { return body }
    let codes = Dictionary(uniqueKeysWithValues: secrets.map { ($0, code(for: $0, key)) })
    let safe = replaced(value, codes)
    // Byte for byte as it came but for the secret, if that is all that stands in the way of it; else (a decoy, a
    // second place, escapes we would not write) the whole is written anew, members in their order.
    if let secret = secrets.first, let code = codes[secret], let range = body.firstRange(of: secret.encoded()) {
      var short = body
      short.replaceSubrange(range, with: code.encoded())
      if (try? JSONReader.read(short)) == safe { return short }
    }
    return safe.encoded()
  }

  private static func collect(from value: JSONValue, into secrets: inout Set<JSONValue>) {
    switch value {
    case .object(let object):
      for member in object {
        switch member.value {
        case .string, .integer, .number:
          if member.key == "password", member.value.string?.hasPrefix(mark) != true { secrets.insert(member.value) }
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

  private static func code(for secret: JSONValue, _ key: MasterKey) -> JSONValue {
    let text = secret.string.map { Array($0.utf8) } ?? secret.encoded()
    return .string("\(mark)\(key.id):\(key.code(for: text, purpose: "v1 password").hex)")
  }

  /// The body of a message from which no secret was taken; throws for another, which must not be sent as if it were whole.
  @Sendable static func requireWhole(_ stored: StoredMessage) throws -> [UInt8] {
    let body = stored.message.body
    if mayBe(in: body), body.firstRange(of: Array("\"\(mark)".utf8)) != nil { throw Sealed() }
    return body
  }

  /// A secret was taken out of the body, and nothing here puts it back.
  struct Sealed: Error {}

  /// How a code begins: what has one was redacted before.
  private static let mark = "hmac-sha256:"
}
