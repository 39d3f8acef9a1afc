import JSON
package import Ledger

/// A stored body as a command prints it.
package enum ShownBody {
  private static let hidden = "[hidden]"

  /// The body without the values of members `password`, and without the registered secrets.
  package static func bytes(_ body: [UInt8], _ secrets: SecretFilter) -> [UInt8] {
    let object = try? JSONReader.read(body, limits: .stored).object
    let shown = object.flatMap(shown)?.encoded() ?? body
    return secrets.redacted(shown) ?? shown
  }

  /// `nil` if there is no such member.
  private static func shown(_ object: JSONObject) -> JSONObject? {
    var members: [JSONObject.Member]?
    for (place, member) in object.members.enumerated() {
      guard let value = isPassword(member.key) ? .string(hidden) : shown(member.value) else { continue }
      if members == nil { members = Array(object.members) }
      members?[place] = JSONObject.Member(key: member.key, value: value)
    }
    return members.map { JSONObject(uniqueMembers: $0) }
  }

  private static func shown(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .object(let object): return shown(object).map(JSONValue.object)
    case .array(let values):
      let others = values.map(shown)
      return others.contains { $0 != nil } ? .array(zip(values, others).map { $1 ?? $0 }) : nil
    case .null, .bool, .integer, .number, .string: return nil
    }
  }

  static func isPassword(_ name: String) -> Bool { name.utf8.count == 8 && name.lowercased() == "password" }
}
