extension JSONReader {
  /// Returns the text of one member of the outermost object; nil if there is none, it is no text, or it has more than
  /// `longest` bytes.
  ///
  /// Keeps nothing else of the document in memory, and reads no further into it than is needed to pass over it: what it
  /// returns is what `read` would, but a document that `read` refuses may pass. A second member of that name is refused.
  ///
  /// - Parameter limits: `values` counts the members, and each bracket of what is inside of them.
  public static func text(
    of key: String, in bytes: [UInt8], longest: Int, limits: JSONLimits
  ) throws(JSONError) -> String? {
    guard bytes.count <= limits.bytes else { throw JSONError(.tooLarge, at: limits.bytes) }
    var reader = Self(limits: limits)
    return try reader.text(of: key, longest: longest, bytes.span)
  }

  private mutating func text(of key: String, longest: Int, _ bytes: Span<UInt8>) throws(JSONError) -> String? {
    skipWhiteSpace(bytes)
    guard try peek(bytes) == UInt8(ascii: "{") else { return nil }
    offset += 1
    skipWhiteSpace(bytes)
    if try peek(bytes) == UInt8(ascii: "}") { return nil }
    var (found, isFound): (String?, Bool) = (nil, false)
    while true {
      try countValue()
      skipWhiteSpace(bytes)
      let start = offset
      let isNamed = try self.key(bytes, is: key)
      skipWhiteSpace(bytes)
      try expect(UInt8(ascii: ":"), bytes)
      skipWhiteSpace(bytes)
      if isNamed {
        guard !isFound else { throw JSONError(.duplicateKey, at: start) }
        isFound = true
        found = try shortText(longest, bytes)
      } else {
        try skipValue(bytes)
      }
      skipWhiteSpace(bytes)
      let byte = try peek(bytes)
      offset += 1
      if byte == UInt8(ascii: "}") { return found }
      guard byte == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: offset - 1) }
    }
  }

  /// Reads a member's name and returns whether it is `key`; a name too long to be that is passed over.
  private mutating func key(_ bytes: Span<UInt8>, is key: String) throws(JSONError) -> Bool {
    guard try peek(bytes) == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
    let start = offset
    let raw = try skipString(bytes)
    // The longest way to write a byte is `\u0070`.
    guard raw <= 6 * key.utf8.count else { return false }
    offset = start
    return try string(bytes).hasBytes(of: key)
  }

  /// Reads a value and returns its text; nil if it is none, or longer than `longest` bytes.
  private mutating func shortText(_ longest: Int, _ bytes: Span<UInt8>) throws(JSONError) -> String? {
    guard try peek(bytes) == UInt8(ascii: "\"") else {
      try skipValue(bytes)
      return nil
    }
    let start = offset
    guard try skipString(bytes) <= 6 * longest else { return nil }
    offset = start
    let text = try string(bytes)
    return text.utf8.count <= longest ? text : nil
  }

  /// Passes over a string whose opening quote is next; returns how many bytes are between its quotes.
  private mutating func skipString(_ bytes: Span<UInt8>) throws(JSONError) -> Int {
    offset += 1
    let start = offset
    while true {
      offset = bytes.endOfPlainText(from: offset)
      switch try peek(bytes) {
      case UInt8(ascii: "\""):
        offset += 1
        return offset - 1 - start
      case UInt8(ascii: "\\"):
        offset += 1
        _ = try peek(bytes)
        offset += 1
      default: throw error(.controlCharacter)
      }
    }
  }

  /// Passes over a value without recursion; what is inside of it is not checked to be JSON.
  private mutating func skipValue(_ bytes: Span<UInt8>) throws(JSONError) {
    var depth = 0
    repeat {
      skipWhiteSpace(bytes)
      switch try peek(bytes) {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        try countValue()
        depth += 1
        guard depth < limits.depth else { throw error(.tooDeep) }
        offset += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { throw error(.unexpectedByte) }
        depth -= 1
        offset += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard depth > 0 else { throw error(.unexpectedByte) }
        offset += 1
      case UInt8(ascii: "\""): _ = try skipString(bytes)
      default: skipWord(bytes)
      }
    } while depth > 0
  }

  /// Passes over a number or a word, at least one byte.
  private mutating func skipWord(_ bytes: Span<UInt8>) {
    offset += 1
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "{"),
        UInt8(ascii: "["), UInt8(ascii: "\""), 0x20, 0x0A, 0x0D, 0x09:
        return
      default: offset += 1
      }
    }
  }
}
