import JSON

/// Every place of a body in which a password stands, filled with something else.
enum PasswordPlaces {
  /// The value with a code in each place; codes take at most as many bytes as the body has, and `slack`.
  ///
  /// A code is longer than most passwords, and one text may stand in a body by the thousand. Then Apple's own `password` alone
  /// gets its code, so that it can be put back: other places are crowded, and get what is no longer than twice the text.
  ///
  /// - Parameter count: the bytes of the body.
  static func filled(
    in value: JSONValue, of count: Int, with codes: [JSONValue: String]
  ) -> (value: JSONValue, isCrowded: Bool) {
    if codes.isEmpty { return (value, false) }
    var places = 0
    let texts = codes.mapValues(JSONValue.string)
    let filled = filled(in: value, members: texts, texts: texts, &places)
    let longest = codes.values.lazy.map(\.utf8.count).max() ?? 0
    guard places * (longest + LegacyPassword.rewritten.utf8.count) > count + slack else { return (filled, false) }
    return (Self.filled(in: value, with: codes, isCrowded: true), true)
  }

  /// Far more than Apple's `password` takes, and a few decoys.
  static let slack = 1 << 10

  /// The value with a code in each place, or in Apple's alone.
  static func filled(in value: JSONValue, with codes: [JSONValue: String], isCrowded: Bool) -> JSONValue {
    if !isCrowded { return filled(in: value, with: codes.mapValues(JSONValue.string)) }
    let marker = JSONValue.string(HiddenSecrets.marker)
    let members = codes.mapValues { _ in marker }
    // What is shorter than the marker leaves nothing: the text may have been a single letter.
    let texts = Dictionary(
      uniqueKeysWithValues: codes.keys.map { secret -> (JSONValue, JSONValue) in
        (secret, (secret.string?.utf8.count ?? 0) < HiddenSecrets.shortest ? "" : marker)
      })
    var places = 0
    let filled = filled(in: value, members: members, texts: texts, &places)
    guard var object = filled.object, let code = value.object?["password"].flatMap({ codes[$0] }) else { return filled }
    object["password"] = .string(code)
    return .object(object)
  }

  /// The value with other values in the places of these: of members `password`, and of texts.
  static func filled(in value: JSONValue, with others: [JSONValue: JSONValue]) -> JSONValue {
    var places = 0
    return filled(in: value, members: others, texts: others, &places)
  }

  private static func filled(
    in value: JSONValue, members: [JSONValue: JSONValue], texts: [JSONValue: JSONValue], _ places: inout Int
  ) -> JSONValue {
    switch value {
    case .object(let object):
      return .object(
        JSONObject(
          uniqueMembers: object.map { member in
            if member.key == "password", let other = members[member.value] {
              places += 1
              return JSONObject.Member(key: member.key, value: other)
            }
            return JSONObject.Member(
              key: member.key, value: filled(in: member.value, members: members, texts: texts, &places))
          }))
    case .array(let values):
      return .array(values.map { filled(in: $0, members: members, texts: texts, &places) })
    case .string(let text):
      // An empty password says nothing of the empty texts elsewhere.
      guard !text.isEmpty, let other = texts[value] else { return value }
      places += 1
      return other
    case .null, .bool, .integer, .number: return value
    }
  }
}
