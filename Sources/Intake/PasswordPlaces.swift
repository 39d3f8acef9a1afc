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
    others.isEmpty ? value : changed(value, others, withTexts) ?? value
  }

  /// Returns nil if nothing was replaced, so that nothing is copied.
  private static func changed(
    _ value: JSONValue, _ others: [JSONValue: JSONValue], _ withTexts: Bool
  ) -> JSONValue? {
    switch value {
    case .object(let object):
      var members: [JSONObject.Member]?
      for (place, member) in object.members.enumerated() {
        // Only a value that is no container is looked up: what is nested would be hashed once for each level.
        let other = isPlace(member) ? others[member.value] : changed(member.value, others, withTexts)
        guard let other else { continue }
        if members == nil { members = Array(object.members) }
        members?[place].value = other
      }
      return members.map { .object(JSONObject(uniqueMembers: $0)) }
    case .array(let values):
      var result: [JSONValue]?
      for (place, value) in values.enumerated() {
        guard let other = changed(value, others, withTexts) else { continue }
        if result == nil { result = values }
        result?[place] = other
      }
      return result.map(JSONValue.array)
    case .string: return withTexts ? others[value] : nil
    case .null, .bool, .integer, .number: return nil
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
