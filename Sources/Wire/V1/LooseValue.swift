public import JSON
public import Time

/// Values as the old generation writes them: numbers as text and text as numbers, over ten years of bodies.
extension JSONValue {
  /// Text; a whole number is its digits (`original_transaction_id` is a number at the top and text in the rows).
  public var looseText: String? {
    switch self {
    case .string(let text): text
    case .integer(let value): String(value)
    case .number(let number): number.integer.map(String.init)
    case .null, .bool, .array, .object: nil
    }
  }

  /// A whole number, also when its digits stand as text.
  public var looseInteger: Int64? {
    if case .string(let text) = self { return Int64(text) }
    return integer
  }

  /// True and false, also as text, or as 1 and 0.
  public var looseFlag: Bool? {
    switch self {
    case .bool(let value): value
    case .string("true"), .string("1"), .integer(1): true
    case .string("false"), .string("0"), .integer(0): false
    case .null, .integer, .number, .string, .array, .object: nil
    }
  }

  /// An instant: milliseconds as a number or as digits, Apple's written form (`V1Date`), or RFC 3339, as Apple's archived
  /// page "Receipt Fields" has it and as receipts themselves write it.
  public var looseDate: Timestamp? {
    guard case .string(let text) = self else { return milliseconds }
    if let value = Int64(text) { return Timestamp(value) }
    return V1Date.read(text) ?? Timestamp(rfc3339: text.utf8Span.span)
  }
}

extension Payload {
  func looseText(_ key: String) -> String? { json[key]?.looseText }
  func looseInteger(_ key: String) -> Int64? { json[key]?.looseInteger }
  func looseFlag(_ key: String) -> Bool? { json[key]?.looseFlag }

  /// The objects of a list, or the one object that stands in its place.
  func rows<Row: Payload>(_ key: String) -> [Row]? {
    Row(json[key]).map { [$0] } ?? structures(key)
  }

  /// The date called `name`: its milliseconds, else its written form, else the one in Apple's local time.
  ///
  /// iOS 6 rows keep milliseconds in `expires_date` itself and the written form in `expires_date_formatted`.
  public func looseDate(_ name: String) -> Timestamp? {
    json["\(name)_ms"]?.looseDate ?? json[name]?.looseDate ?? json["\(name)_formatted"]?.looseDate
      ?? json["\(name)_pst"]?.looseDate ?? json["\(name)_formatted_pst"]?.looseDate
  }
}

extension Schema {
  /// The fields of dates that are written three times.
  static func dates(_ names: String...) -> [String: Kind] {
    var fields: [String: Kind] = [:]
    for name in names { for form in ["", "_ms", "_pst"] { fields[name + form] = .loose(.date) } }
    return fields
  }

  init(_ fields: [String: Kind], _ more: [String: Kind]...) {
    self.init(more.reduce(fields) { all, more in all.merging(more) { first, _ in first } })
  }
}
