/// How much JSON is accepted.
public struct JSONLimits: Sendable {
  public var bytes: Int
  /// Objects and arrays inside each other.
  public var depth: Int

  public init(bytes: Int, depth: Int) {
    self.bytes = bytes
    self.depth = depth
  }

  /// 1 MiB, 32 levels: Apple's deepest message has six.
  public static let standard = Self(bytes: 1 << 20, depth: 32)
}

/// Why bytes are no acceptable JSON, and the offset at which reading stopped.
///
/// Contents are never repeated: they may be secret.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    case tooLarge, tooDeep, truncated, unexpectedByte, invalidNumber, invalidEscape, controlCharacter, notUTF8,
      duplicateKey, trailingBytes
  }

  public let code: Code
  public let offset: Int

  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  public var description: String { "\(code.rawValue) at byte \(offset)" }
}

/// Reads JSON as RFC 8259 writes it, and refuses what signed data must not have.
///
/// Foundation's decoder takes the first of two equal keys in silence, rounds numbers above 2^53 and forgets the fields it
/// was not told of; refusing the first and keeping the rest would need a second pass over the same bytes. This one pass
/// does all three; the tests hold it against Foundation's on everything both accept.
public struct JSONReader {
  private let bytes: [UInt8]
  private let limits: JSONLimits
  private var offset = 0
  private var depth = 0

  private init(_ bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  /// The one value that `bytes` are, white space around it allowed.
  public static func read(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
    guard bytes.count <= limits.bytes else { throw JSONError(.tooLarge, at: limits.bytes) }
    var reader = Self(bytes, limits: limits)
    let value = try reader.value()
    reader.skipWhiteSpace()
    guard reader.offset == bytes.count else { throw JSONError(.trailingBytes, at: reader.offset) }
    return value
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    skipWhiteSpace()
    switch try peek() {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error(.unexpectedByte)
    }
  }

  private mutating func object() throws(JSONError) -> JSONObject {
    try descend()
    var members: [JSONObject.Member] = []
    if try !closes(UInt8(ascii: "}")) {
      members.reserveCapacity(24)
      var seen: Set<String> = []
      repeat {
        skipWhiteSpace()
        guard try peek() == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
        let start = offset
        let key = try string()
        if isKnown(key, in: members, &seen) { throw JSONError(.duplicateKey, at: start) }
        skipWhiteSpace()
        try expect(UInt8(ascii: ":"))
        members.append(JSONObject.Member(key: key, value: try value()))
      } while try continues(until: UInt8(ascii: "}"))
    }
    depth -= 1
    return JSONObject(distinct: members)
  }

  /// Apple's objects are small, where comparing beats hashing; a set keeps a hostile one from costing n².
  private func isKnown(_ key: String, in members: [JSONObject.Member], _ seen: inout Set<String>) -> Bool {
    if members.count < 40 { return members.contains { $0.key == key } }
    if seen.isEmpty { seen = Set(members.map(\.key)) }
    return !seen.insert(key).inserted
  }

  private mutating func array() throws(JSONError) -> [JSONValue] {
    try descend()
    var elements: [JSONValue] = []
    if try !closes(UInt8(ascii: "]")) {
      repeat { elements.append(try value()) } while try continues(until: UInt8(ascii: "]"))
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
  private mutating func closes(_ closing: UInt8) throws(JSONError) -> Bool {
    skipWhiteSpace()
    guard try peek() == closing else { return false }
    offset += 1
    return true
  }

  /// Whether a comma follows; takes it, or the closing byte.
  private mutating func continues(until closing: UInt8) throws(JSONError) -> Bool {
    skipWhiteSpace()
    let byte = try peek()
    guard byte == closing || byte == UInt8(ascii: ",") else { throw error(.unexpectedByte) }
    offset += 1
    return byte != closing
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    for byte in word.description.utf8 { try expect(byte) }
    return value
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = offset
    var number = NumberScanner()
    while offset < bytes.count, number.takes(bytes[offset]) { offset += 1 }
    guard let end = number.end else { throw JSONError(offset == bytes.count ? .truncated : .invalidNumber, at: start) }
    if case .integer(let value) = end { return .integer(value) }
    return .number(JSONNumber(text: String(decoding: bytes[start..<offset], as: UTF8.self)))
  }

  private mutating func string() throws(JSONError) -> String {
    offset += 1
    let start = offset
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        guard let text = String(validating: bytes[start..<offset], as: UTF8.self) else {
          throw JSONError(.notUTF8, at: start)
        }
        offset += 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      if byte < 0x20 { throw error(.controlCharacter) }
      offset += 1
    }
    throw error(.truncated)
  }

  /// The rest of a string in which an escape was met: copied piece by piece.
  private mutating func escapedString(from start: Int) throws(JSONError) -> String {
    var text = Array(bytes[start..<offset])
    while offset < bytes.count {
      let byte = bytes[offset]
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        guard let string = String(validating: text, as: UTF8.self) else { throw JSONError(.notUTF8, at: start) }
        return string
      case UInt8(ascii: "\\"):
        offset += 1
        text.append(contentsOf: String(try escape()).utf8)
      case 0..<0x20: throw error(.controlCharacter)
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw error(.truncated)
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let byte = try peek()
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw JSONError(.invalidEscape, at: offset - 1)
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let start = offset
    let high = try hexQuad()
    if let scalar = Unicode.Scalar(high) { return scalar }
    // A surrogate: only a high one followed by an escaped low one is a character.
    guard high < 0xDC00, try peek() == UInt8(ascii: "\\") else { throw JSONError(.invalidEscape, at: start) }
    offset += 1
    guard try peek() == UInt8(ascii: "u") else { throw JSONError(.invalidEscape, at: start) }
    offset += 1
    let low = try hexQuad()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(high - 0xD800) << 10) + UInt32(low - 0xDC00))
    else { throw JSONError(.invalidEscape, at: start) }
    return scalar
  }

  private mutating func hexQuad() throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try peek())).hexDigitValue else { throw error(.invalidEscape) }
      value = value << 4 | UInt16(digit)
      offset += 1
    }
    return value
  }

  private mutating func skipWhiteSpace() {
    while offset < bytes.count, case let byte = bytes[offset],
      byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    { offset += 1 }
  }

  private func peek() throws(JSONError) -> UInt8 {
    guard offset < bytes.count else { throw error(.truncated) }
    return bytes[offset]
  }

  private mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard try peek() == byte else { throw error(.unexpectedByte) }
    offset += 1
  }

  private func error(_ code: JSONError.Code) -> JSONError { JSONError(code, at: offset) }
}
