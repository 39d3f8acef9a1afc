public import JSON
public import Time

/// The type of a field's value.
public enum FactKind: String, Sendable {
  case text, integer, flag
  /// Integer milliseconds since 1970.
  case date
  /// An Apple structure, kept unchanged.
  case structure
}

/// The fields of a statement.
///
/// The cases are Apple's V2 field names, numbered from 0.
public protocol FactField: RawRepresentable, Hashable, Sendable, CaseIterable where RawValue == Int {
  var kind: FactKind { get }
  static var names: FieldNames { get }
  /// The fields that stay until they are stated again: unless omissions of a source have a meaning, it cannot clear
  /// them by omission.
  static var marks: [Self] { get }
}

extension FactField {
  public static var marks: [Self] { [] }

  public var name: String { Self.names[rawValue] }

  public init?(name: String) {
    guard let place = Self.names.place(of: name) else { return nil }
    self.init(rawValue: place)
  }
}

public struct FieldNames: Sendable {
  private let names: [String]
  /// Each name as the beginning of a JSON member: quoted, with its colon.
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

/// A source's statement: values for some fields, each of the field's type.
///
/// A value is stated, or inferred from stated ones, which it never replaces.
public struct Facts<Field: FactField>: Hashable, Sendable {
  /// The values of the known fields, in declaration order.
  private var values: [JSONValue] = []
  /// A bit for each field with a value, by its number.
  private var presences: UInt64 = 0
  private var inferences: UInt64 = 0

  public init() {}

  /// Creates the facts of a V2 payload: every member with a field's name and type.
  @specialized(where Field == PurchaseField)
  @specialized(where Field == RenewalField)
  public init(stated payload: JSONObject) {
    let members = payload.members
    for place in members.indices {
      if let field = Field(name: members[place].key) { set(field, members[place].value) }
    }
  }

  public subscript(field: Field) -> JSONValue? { has(field) ? values[place(field)] : nil }

  /// Sets a value.
  ///
  /// Returns false, without a change, if the type is wrong. Dates with fractions (as in Xcode) are rounded to
  /// milliseconds. Whole numbers may be written `1.0`.
  @discardableResult
  public mutating func set(_ field: Field, _ value: JSONValue) -> Bool {
    guard let normal = Self.normal(value, field.kind) else { return false }
    put(normal, field)
    inferences &= ~bit(field)
    return true
  }

  /// Sets an inferred value.
  ///
  /// Returns false, without a change, if the type is wrong or the field is stated.
  @discardableResult
  public mutating func infer(_ field: Field, _ value: JSONValue) -> Bool {
    guard !has(field) || isInferred(field), let normal = Self.normal(value, field.kind) else { return false }
    put(normal, field)
    inferences |= bit(field)
    return true
  }

  /// Whether the field's value is inferred.
  public func isInferred(_ field: Field) -> Bool { inferences & bit(field) != 0 }

  private func has(_ field: Field) -> Bool { presences & bit(field) != 0 }
  private func bit(_ field: Field) -> UInt64 { 1 << UInt64(field.rawValue) }
  /// Returns the position of the field's value, after those of earlier fields.
  private func place(_ field: Field) -> Int { (presences & (bit(field) - 1)).nonzeroBitCount }

  private mutating func put(_ value: JSONValue, _ field: Field) {
    let place = place(field)
    if has(field) {
      values[place] = value
    } else {
      if values.capacity == 0 { values.reserveCapacity(24) }
      // Apple's order is mostly the declaration order.
      if place == values.count { values.append(value) } else { values.insert(value, at: place) }
      presences |= bit(field)
    }
  }

  public func text(_ field: Field) -> String? { self[field]?.string }
  public func integer(_ field: Field) -> Int64? { self[field]?.integer }
  public func flag(_ field: Field) -> Bool? { self[field]?.bool }
  public func date(_ field: Field) -> Timestamp? { self[field]?.milliseconds }

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
  /// The member of `json` with the names of the inferred fields.
  ///
  /// No Apple field has this name.
  private static var inferredMember: String { "inferred" }

  /// The facts as JSON with Apple's V2 names in declaration order, so that equal facts have equal bytes.
  ///
  /// A last member `inferred` lists the names of inferred fields, if any.
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

  @specialized(where Field == PurchaseField)
  @specialized(where Field == RenewalField)
  public func encoded() -> [UInt8] {
    // Only V1 statements have inferred values, and are written with the object.
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

  /// Reads the output of `json`.
  ///
  /// Members of other names or types (a newer build's) are ignored.
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
