public import Time

/// One JSON value, exactly as it was written: order of members kept, numbers never rounded.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number written without fraction or exponent that fits 64 bits (`download_id` exceeds 2^53).
  case integer(Int64)
  /// Any other number, as its text.
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue {
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// A whole number, also when it was written `1.0` or `1e3`; nil for fractions and for what exceeds 64 bits.
  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let number): number.integer
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// An instant written as a number of milliseconds; Xcode's fractions are rounded to the nearest, halves away from zero.
  public var milliseconds: Timestamp? {
    switch self {
    case .integer(let value): Timestamp(value)
    case .number(let number): number.rounded.map(Timestamp.init)
    case .null, .bool, .string, .array, .object: nil
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
