import Time

/// One attribute: its number and its value's bytes.
struct Attribute {
  let type: Int64
  let value: DEROctets

  init(
    in bytes: Span<UInt8>, at offset: inout Int, before end: Int, _ reader: inout DERReader
  ) throws(DERError) {
    let attribute = try reader.element(.sequence, in: bytes, at: &offset, before: end)
    var inner = attribute.content.lowerBound
    let limit = attribute.content.upperBound
    let type = try reader.element(.integer, in: bytes, at: &inner, before: limit)
    _ = try reader.element(.integer, in: bytes, at: &inner, before: limit)
    let octets = try reader.element(in: bytes, at: &inner, before: limit)
    guard let number = DERValue.integer(in: bytes, type.content) else { throw .malformed }
    self.type = number
    value = try reader.octets(of: octets, in: bytes)
  }
}

/// What came of an attribute.
enum Noted { case known, unknown, unreadable }

/// What came of reading an attribute's value.
enum Read<Value> {
  case value(Value)
  /// Apple writes what does not exist as an empty string.
  case absent
  case unreadable

  func map<Other>(_ change: (Value) -> Other) -> Read<Other> {
    switch self {
    case .value(let value): .value(change(value))
    case .absent: .absent
    case .unreadable: .unreadable
    }
  }

  /// Of an attribute that is written twice the first counts.
  func keep(in field: inout Value?) -> Noted {
    switch self {
    case .value(let value):
      field = field ?? value
      return .known
    case .absent: return .known
    case .unreadable: return .unreadable
    }
  }
}

extension Read<Int64> {
  /// The same, 0 standing for none.
  var nonZero: Self { if case .value(0) = self { .absent } else { self } }
}

/// The value of an attribute: DER inside its octet string.
enum AttributeValue {
  static func text(_ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader) -> Read<String> {
    guard let content = string(value, of: bytes, &reader) else { return .unreadable }
    guard !content.isEmpty else { return .absent }
    return DERValue.text(in: bytes, content).map { .value($0) } ?? .unreadable
  }

  static func date(_ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader) -> Read<Timestamp> {
    guard let content = string(value, of: bytes, &reader) else { return .unreadable }
    guard !content.isEmpty else { return .absent }
    return DERValue.date(in: bytes, content).map { .value($0) } ?? .unreadable
  }

  static func integer(_ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader) -> Read<Int64> {
    guard !value.isEmpty else { return .absent }
    var offset = value.lowerBound
    guard let element = try? reader.element(.integer, in: bytes, at: &offset, before: value.upperBound),
      let number = DERValue.integer(in: bytes, element.content)
    else { return .unreadable }
    return .value(number)
  }

  private static func string(_ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader) -> Range<Int>? {
    guard !value.isEmpty else { return value }
    var offset = value.lowerBound
    guard let element = try? reader.element(in: bytes, at: &offset, before: value.upperBound) else { return nil }
    switch element.tag {
    case .utf8String, .ia5String, .printableString: return element.content
    default: return nil
    }
  }
}
