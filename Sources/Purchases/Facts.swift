public import JSON
public import Time

/// What kind of value a field holds.
public enum FactKind: String, Sendable {
  case text, integer, flag
  /// Whole milliseconds since 1970.
  case date
  /// A structure of Apple's that is kept as it came.
  case structure
}

/// The names of what can be said about one thing; the cases are Apple's V2 field names, numbered from 0.
public protocol FactField: RawRepresentable, Hashable, Sendable, CaseIterable where RawValue == Int {
  var kind: FactKind { get }
  static var names: FieldNames { get }
  /// What stands until it is stated anew: a source that does not speak by absence takes it back by no silence of its own.
  static var marks: [Self] { get }
}

extension FactField {
  public static var marks: [Self] { [] }

  /// Apple's V2 name of the field.
  public var name: String { Self.names[rawValue] }

  public init?(name: String) {
    guard let place = Self.names.place(of: name) else { return nil }
    self.init(rawValue: place)
  }
}

/// The names of a list of fields, both ways.
public struct FieldNames: Sendable {
  private let names: [String]
  /// Each as it begins a member of a JSON object: quoted, with its colon.
  private let labels: [[UInt8]]
  private let table: KnownKeys

  init(_ names: [String]) {
    self.names = names
    labels = names.map { Array("\"\($0)\":".utf8) }
    table = KnownKeys(names)
  }

  var count: Int { names.count }

  subscript(place: Int) -> String { names[place] }

  func label(_ place: Int) -> [UInt8] { labels[place] }

  func place(of name: String) -> Int? { table.place(of: name) }
}

/// What somebody said about one thing: a value for some of its fields, each of the field's kind.
///
/// A value is stated, or inferred from what was stated (a type from the presence of an expiry, say). An inferred one gives
/// way to whoever states the field.
public struct Facts<Field: FactField>: Hashable, Sendable {
  /// Those of the known fields, in declaration order.
  private var values: [JSONValue] = []
  /// Which fields have a value: one bit for each, by its number.
  private var presences: UInt64 = 0
  private var inferences: UInt64 = 0

  public init() {}

  /// What a payload of Apple's V2 states: every member that has a field's name and is of its kind.
  @specialized(where Field == PurchaseField)
  @specialized(where Field == RenewalField)
  public init(stated payload: JSONObject) {
    let members = payload.members
    for place in members.indices {
      if let field = Field(name: members[place].key) { set(field, members[place].value) }
    }
  }

  public subscript(field: Field) -> JSONValue? { has(field) ? values[place(field)] : nil }

  /// Notes `value` and returns true; returns false when it is not of the field's kind, and notes nothing.
  ///
  /// Dates may have fractions (Xcode's do) and are rounded to milliseconds; whole numbers may be written `1.0`.
  @discardableResult
  public mutating func set(_ field: Field, _ value: JSONValue) -> Bool {
    guard let normal = Self.normal(value, field.kind) else { return false }
    put(normal, field)
    inferences &= ~bit(field)
    return true
  }

  /// Notes `value` as one that nobody stated and returns true; returns false, and notes nothing, when it is not of the
  /// field's kind or the field has been stated.
  @discardableResult
  public mutating func infer(_ field: Field, _ value: JSONValue) -> Bool {
    guard !has(field) || isInferred(field), let normal = Self.normal(value, field.kind) else { return false }
    put(normal, field)
    inferences |= bit(field)
    return true
  }

  /// Whether the field has a value that nobody stated.
  public func isInferred(_ field: Field) -> Bool { inferences & bit(field) != 0 }

  private func has(_ field: Field) -> Bool { presences & bit(field) != 0 }
  private func bit(_ field: Field) -> UInt64 { 1 << UInt64(field.rawValue) }
  /// Where its value stands, or would: after those of the fields before it.
  private func place(_ field: Field) -> Int { (presences & (bit(field) - 1)).nonzeroBitCount }

  private mutating func put(_ value: JSONValue, _ field: Field) {
    let place = place(field)
    if has(field) {
      values[place] = value
    } else {
      if values.capacity == 0 { values.reserveCapacity(24) }
      // Apple's order is mostly ours.
      if place == values.count { values.append(value) } else { values.insert(value, at: place) }
      presences |= bit(field)
    }
  }

  public func text(_ field: Field) -> String? { self[field]?.string }
  public func integer(_ field: Field) -> Int64? { self[field]?.integer }
  public func flag(_ field: Field) -> Bool? { self[field]?.bool }
  public func date(_ field: Field) -> Timestamp? { self[field]?.milliseconds }

  /// The fields that have a value, stated or inferred, in declaration order.
  public var known: [(field: Field, value: JSONValue)] {
    Field.allCases.compactMap { field in self[field].map { (field, $0) } }
  }

  private static func normal(_ value: JSONValue, _ kind: FactKind) -> JSONValue? {
    switch kind {
    case .text: if case .string = value { value } else { nil }
    case .flag: if case .bool = value { value } else { nil }
    case .integer: value.integer.map(JSONValue.integer)
    case .date: value.milliseconds.map { .integer($0.sinceEpoch) }
    case .structure:
      switch value {
      case .array, .object: value
      case .null, .bool, .integer, .number, .string: nil
      }
    }
  }
}

extension Facts {
  /// The member of `json` that lists the names of the inferred fields; no field of Apple's is called so.
  private static var inferredMember: String { "inferred" }

  /// The facts as a JSON object with Apple's V2 names, in declaration order: equal facts, equal bytes.
  ///
  /// When some are inferred, a last member `inferred` lists their names.
  public var json: JSONObject {
    let names = Field.names
    var members: [JSONObject.Member] = []
    members.reserveCapacity(values.count + 1)
    var rest = presences
    for value in values {
      members.append(JSONObject.Member(key: names[rest.trailingZeroBitCount], value: value))
      rest &= rest - 1
    }
    if inferences != 0 {
      let inferred = Field.allCases.filter(isInferred).map { JSONValue.string($0.name) }
      members.append(JSONObject.Member(key: Self.inferredMember, value: .array(inferred)))
    }
    return JSONObject(uniqueMembers: members)
  }

  /// The bytes of `json`.
  @specialized(where Field == PurchaseField)
  @specialized(where Field == RenewalField)
  public func encoded() -> [UInt8] {
    // Nobody's own statement infers: only what V1 says is written by way of the object.
    guard inferences == 0 else { return json.encoded() }
    let names = Field.names
    var output: [UInt8] = []
    output.reserveCapacity(1_024)
    var rest = presences
    for place in values.indices {
      output.append(place == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
      output += names.label(rest.trailingZeroBitCount)
      values[place].append(to: &output)
      rest &= rest - 1
    }
    if values.isEmpty { output.append(UInt8(ascii: "{")) }
    output.append(UInt8(ascii: "}"))
    return output
  }

  /// Reads back what `json` wrote; members of other names or kinds (a newer build's) are left out.
  public init(json: JSONObject) {
    self.init()
    let inferred = json[Self.inferredMember]?.array.map { Set($0.compactMap(\.string)) } ?? []
    let members = json.members
    values.reserveCapacity(members.count)
    for place in members.indices {
      guard let field = Field(name: members[place].key) else { continue }
      if !inferred.isEmpty, inferred.contains(members[place].key) {
        infer(field, members[place].value)
      } else {
        set(field, members[place].value)
      }
    }
  }
}
