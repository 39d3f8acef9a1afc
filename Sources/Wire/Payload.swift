public import JSON
import Time

/// A structure as Apple put it on the wire: the JSON itself, with a typed view of what is documented.
///
/// Nothing is required and nothing is lost: what Apple adds tomorrow stays in `json`, and `survey()` tells of it.
public protocol Payload: Hashable, Sendable {
  /// What Apple documents of it.
  static var schema: Schema { get }
  var json: JSONObject { get }
  init(_ json: JSONObject)
}

extension Payload {
  public init?(_ value: JSONValue?) {
    guard let object = value?.object else { return nil }
    self.init(object)
  }

  /// What in this structure is not as documented when this was built.
  public func survey() -> UndocumentedContent {
    var survey = UndocumentedContent()
    Self.schema.survey(json, path: "", into: &survey)
    return survey
  }

  func text(_ key: String) -> String? { json[key]?.string }
  func integer(_ key: String) -> Int64? { json[key]?.integer }
  func flag(_ key: String) -> Bool? { json[key]?.bool }
  func date(_ key: String) -> Timestamp? { json[key]?.milliseconds }
  func texts(_ key: String) -> [String]? { json[key]?.array?.compactMap(\.string) }
  func structure<Inner: Payload>(_ key: String) -> Inner? { Inner(json[key]) }
  func structures<Inner: Payload>(_ key: String) -> [Inner]? { json[key]?.array?.compactMap { Inner($0) } }
}

extension JSONObject {
  /// The members that have a value, in this order: a request says nothing of what it was not given.
  init(given members: (String, JSONValue?)...) {
    self.init(members.compactMap { key, value in value.map { (key, $0) } })
  }
}

extension JSONValue {
  init?(_ text: String?) {
    guard let text else { return nil }
    self = .string(text)
  }

  init?(_ number: Int64?) {
    guard let number else { return nil }
    self = .integer(number)
  }

  init?(_ flag: Bool?) {
    guard let flag else { return nil }
    self = .bool(flag)
  }

  init?(_ texts: [String]?) {
    guard let texts else { return nil }
    self = .array(texts.map(JSONValue.string))
  }

  init?(_ date: Timestamp?) {
    guard let date else { return nil }
    self = .integer(date.sinceEpoch)
  }
}

/// What a structure has that its documentation does not: kept as it came, counted and shown, never guessed.
public struct UndocumentedContent: Hashable, Sendable {
  /// Fields that no documentation names, by path: `data.newField`.
  public internal(set) var unknownFields: [String] = []
  /// Fields whose value is not of the documented type: `quantity` given as "abc".
  public internal(set) var unusableFields: [String] = []
  /// Documented fields with a value outside the documented ones: `type=Lifetime`, of a long value the beginning.
  public internal(set) var unknownValues: [String] = []

  public init() {}

  public var isClean: Bool { unknownFields.isEmpty && unusableFields.isEmpty && unknownValues.isEmpty }

  /// Counts a field that is as documented and still of no use.
  public mutating func add(unusable path: String) { unusableFields.append(path) }

  /// Counts a field that nobody knows.
  public mutating func add(unknown path: String) { unknownFields.append(path) }

  /// The same with other texts in the place of these.
  package func mapTexts(_ change: (String) -> String) -> UndocumentedContent {
    var survey = self
    survey.unknownFields = unknownFields.map(change)
    survey.unusableFields = unusableFields.map(change)
    survey.unknownValues = unknownValues.map(change)
    return survey
  }

  public mutating func add(_ other: UndocumentedContent) {
    unknownFields += other.unknownFields
    unusableFields += other.unusableFields
    unknownValues += other.unknownValues
  }
}
