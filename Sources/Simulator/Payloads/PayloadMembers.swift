import JSON
import Time

/// The members of a payload under construction, with unique names.
///
/// `nil` values are omitted, as Apple does.
struct PayloadMembers {
  private var members: [JSONObject.Member] = []

  init() { members.reserveCapacity(32) }

  var object: JSONObject { JSONObject(uniqueMembers: members) }

  mutating func add(_ key: String, _ value: JSONValue?) {
    if let value { members.append(JSONObject.Member(key: key, value: value)) }
  }

  mutating func add(_ key: String, _ text: String?) { add(key, text.map(JSONValue.string)) }
  mutating func add(_ key: String, _ number: Int64?) { add(key, number.map(JSONValue.integer)) }
  mutating func add(_ key: String, _ flag: Bool?) { add(key, flag.map(JSONValue.bool)) }
  mutating func add(_ key: String, _ date: Timestamp?) { add(key, date?.sinceEpoch) }
}
