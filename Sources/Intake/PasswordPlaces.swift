import JSON

/// The members `password` of a body, at any depth, whose values are texts or numbers.
enum PasswordPlaces {
  /// Returns the value of each, in their order.
  static func values(in value: JSONValue) -> [JSONValue] {
    var values: [JSONValue] = []
    collect(from: value, into: &values)
    return values
  }

  private static func collect(from value: JSONValue, into values: inout [JSONValue]) {
    switch value {
    case .object(let object):
      for member in object {
        if isPlace(member) { values.append(member.value) } else { collect(from: member.value, into: &values) }
      }
    case .array(let items): for item in items { collect(from: item, into: &values) }
    case .null, .bool, .integer, .number, .string: break
    }
  }

  /// Returns the value with others in the places of these.
  ///
  /// - Parameter withTexts: whether texts elsewhere are replaced too: earlier builds put a code there as well.
  static func filled(in value: JSONValue, with others: [JSONValue: JSONValue], withTexts: Bool = false) -> JSONValue {
    if others.isEmpty { return value }
    switch value {
    case .object(let object):
      return .object(
        JSONObject(
          uniqueMembers: object.map { member in
            // Only a value that is no container is looked up: what is nested would be hashed once for each level.
            let other =
              isPlace(member)
              ? others[member.value] ?? member.value : filled(in: member.value, with: others, withTexts: withTexts)
            return JSONObject.Member(key: member.key, value: other)
          }))
    case .array(let values): return .array(values.map { filled(in: $0, with: others, withTexts: withTexts) })
    case .string: return withTexts ? others[value] ?? value : value
    case .null, .bool, .integer, .number: return value
    }
  }

  private static func isPlace(_ member: JSONObject.Member) -> Bool {
    guard member.key == "password" else { return false }
    return switch member.value {
    case .string, .integer, .number: true
    case .null, .bool, .array, .object: false
    }
  }
}
