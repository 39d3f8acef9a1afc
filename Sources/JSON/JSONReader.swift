/// Reads JSON as RFC 8259 writes it, and refuses what signed data must not have.
///
/// Foundation's decoder takes the first of two equal keys in silence, rounds numbers above 2^53 and forgets the fields it
/// was not told of; refusing the first and keeping the rest would need a second pass over the same bytes. This one pass
/// does all three; the tests hold it against Foundation's on everything both accept.
public struct JSONReader {
  let limits: JSONLimits
  var offset = 0
  private var depth = 0
  private var values = 0
  /// The members of the object read last, for the next to expect: rows of a list have the same keys in the same order.
  private var last: [JSONObject.Member] = []

  init(limits: JSONLimits) { self.limits = limits }

  /// The one value that `bytes` are, white space around it allowed.
  public static func read(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
    guard bytes.count <= limits.bytes else { throw JSONError(.tooLarge, at: limits.bytes) }
    var reader = Self(limits: limits)
    let value = try reader.value(bytes.span)
    reader.skipWhiteSpace(bytes.span)
    guard reader.offset == bytes.count else { throw JSONError(.trailingBytes, at: reader.offset) }
    return value
  }

  private mutating func value(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    skipWhiteSpace(bytes)
    try countValue()
    switch try peek(bytes) {
    case UInt8(ascii: "{"): return .object(try object(bytes))
    case UInt8(ascii: "["): return .array(try array(bytes))
    case UInt8(ascii: "\""): return .string(try string(bytes))
    case UInt8(ascii: "t"): return try word("true", .bool(true), bytes)
    case UInt8(ascii: "f"): return try word("false", .bool(false), bytes)
    case UInt8(ascii: "n"): return try word("null", .null, bytes)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
    default: throw error(.unexpectedByte)
    }
  }

  mutating func countValue() throws(JSONError) {
    values += 1
    guard values <= limits.values else { throw error(.tooManyValues) }
  }

  private mutating func object(_ bytes: Span<UInt8>) throws(JSONError) -> JSONObject {
    try descend()
    var members: [JSONObject.Member] = []
    if try !closes(UInt8(ascii: "}"), bytes) {
      // Each object is expected again once: a hostile megabyte of 100,000 objects makes no more room than it has members.
      var expected: [JSONObject.Member] = []
      swap(&expected, &last)
      members.reserveCapacity(depth == 1 ? 32 : expected.count)
      var keys = KeyRegister()
      repeat {
        skipWhiteSpace(bytes)
        guard try peek(bytes) == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
        let start = offset
        let key = try string(bytes, expected: members.count < expected.count ? expected[members.count].key : nil)
        guard keys.insert(key, into: members) else { throw JSONError(.duplicateKey, at: start) }
        skipWhiteSpace(bytes)
        try expect(UInt8(ascii: ":"), bytes)
        members.append(JSONObject.Member(key: key, value: try value(bytes)))
      } while try continues(until: UInt8(ascii: "}"), bytes)
    }
    depth -= 1
    last = members
    return JSONObject(uniqueMembers: members)
  }

  private mutating func array(_ bytes: Span<UInt8>) throws(JSONError) -> [JSONValue] {
    try descend()
    var elements: [JSONValue] = []
    if try !closes(UInt8(ascii: "]"), bytes) {
      repeat { elements.append(try value(bytes)) } while try continues(until: UInt8(ascii: "]"), bytes)
    }
    depth -= 1
    return elements
  }

  private mutating func descend() throws(JSONError) {
    depth += 1
    guard depth <= limits.depth else { throw error(.tooDeep) }
    offset += 1
  }

  /// Whether the container ends before its first element; takes the closing byte.
  private mutating func closes(_ closing: UInt8, _ bytes: Span<UInt8>) throws(JSONError) -> Bool {
    skipWhiteSpace(bytes)
    guard try peek(bytes) == closing else { return false }
    offset += 1
    return true
  }

  /// Whether a comma follows; takes it, or the closing byte.
  private mutating func continues(until closing: UInt8, _ bytes: Span<UInt8>) throws(JSONError) -> Bool {
    skipWhiteSpace(bytes)
    let byte = try peek(bytes)
    guard byte == closing || byte == UInt8(ascii: ",") else { throw error(.unexpectedByte) }
    offset += 1
    return byte != closing
  }

  private mutating func word(
    _ word: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
  ) throws(JSONError) -> JSONValue {
    for byte in word.description.utf8 { try expect(byte, bytes) }
    return value
  }

  private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    let start = offset
    var number = NumberScanner()
    while offset < bytes.count, number.takes(bytes[offset]) { offset += 1 }
    guard let end = number.end else { throw JSONError(offset == bytes.count ? .truncated : .invalidNumber, at: start) }
    switch end {
    case .integer(let value): return .integer(value)
    case .other: return .number(JSONNumber(text: try text(bytes.extracting(start..<offset), at: start)))
    }
  }

  mutating func skipWhiteSpace(_ bytes: Span<UInt8>) {
    while offset < bytes.count, case let byte = bytes[offset],
      byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    { offset += 1 }
  }

  func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
    guard offset < bytes.count else { throw error(.truncated) }
    return bytes[offset]
  }

  mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
    guard try peek(bytes) == byte else { throw error(.unexpectedByte) }
    offset += 1
  }

  func error(_ code: JSONError.Code) -> JSONError { JSONError(code, at: offset) }
}

/// Finds out whether an object has had a key before.
///
/// Apple's objects are small, where comparing beats hashing; a set keeps a hostile one from costing n².
private struct KeyRegister {
  /// One bit for each length and last byte that occurred: most new keys are known to be new by it alone.
  private var traits: UInt64 = 0
  private var keys: Set<KeyBytes> = []

  /// Whether `key` is none of those of `members`.
  mutating func insert(_ key: String, into members: [JSONObject.Member]) -> Bool {
    if members.count >= 40 {
      if keys.isEmpty { keys = Set(members.map { KeyBytes(key: $0.key) }) }
      return keys.insert(KeyBytes(key: key)).inserted
    }
    let trait: UInt64 = 1 << UInt64((key.utf8.count &* 11 &+ Int(key.utf8.last ?? 0)) & 63)
    if traits & trait == 0 {
      traits |= trait
      return true
    }
    return !members.contains { $0.key.hasBytes(of: key) }
  }
}
