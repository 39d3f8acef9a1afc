extension Span<UInt8> {
  /// The offset of the first byte that stands for itself in no JSON string: a quote, a backslash, a control character.
  ///
  /// In blocks of 32 without an early exit, so that the compiler compares 16 bytes at a time: a notification is two
  /// strings of 3.5 KB, and byte by byte they took three quarters of the time.
  func endOfPlainText(from start: Int) -> Int {
    var offset = start
    while count - offset >= 32 {
      let block = extracting(offset..<(offset + 32))
      var special: UInt8 = 0
      for place in 0..<32 { special |= Self.special(block[place]) }
      if special != 0 { break }
      offset += 32
    }
    while offset < count, Self.special(self[offset]) == 0 { offset += 1 }
    return offset
  }

  /// Whether these are the bytes of `text`.
  fileprivate func isText(_ text: String) -> Bool {
    let other = text.utf8Span.span
    guard other.count == count else { return false }
    for place in 0..<count where self[place] != other[place] { return false }
    return true
  }

  /// Not zero for those bytes; without branches.
  private static func special(_ byte: UInt8) -> UInt8 {
    (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0) | (byte < 0x20 ? 1 : 0)
  }
}

extension JSONReader {
  /// The string whose opening quote is next; `expected` itself where it is the same.
  mutating func string(_ bytes: Span<UInt8>, expected: String? = nil) throws(JSONError) -> String {
    offset += 1
    let start = offset
    let end = bytes.endOfPlainText(from: start)
    guard end < bytes.count else { throw JSONError(.truncated, at: end) }
    switch bytes[end] {
    case UInt8(ascii: "\""):
      offset = end + 1
      let plain = bytes.extracting(start..<end)
      if let expected, plain.isText(expected) { return expected }
      return try text(plain, at: start)
    case UInt8(ascii: "\\"):
      offset = end
      return try escapedString(bytes, from: start)
    default: throw JSONError(.controlCharacter, at: end)
    }
  }

  /// Through `UTF8Span`: `String(validating:as:)` looks up generic metadata for every string, a quarter of all the time.
  func text(_ bytes: Span<UInt8>, at start: Int) throws(JSONError) -> String {
    do { return String(copying: try UTF8Span(validating: bytes)) } catch { throw JSONError(.notUTF8, at: start) }
  }

  /// The rest of a string in which an escape was met: copied byte by byte.
  private mutating func escapedString(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> String {
    var text: [UInt8] = []
    for place in start..<offset { text.append(bytes[place]) }
    while offset < bytes.count {
      let byte = bytes[offset]
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return try self.text(text.span, at: start)
      case UInt8(ascii: "\\"):
        offset += 1
        text.append(contentsOf: String(try escape(bytes)).utf8)
      case 0..<0x20: throw error(.controlCharacter)
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw error(.truncated)
  }

  private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
    let byte = try peek(bytes)
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(bytes)
    default: throw JSONError(.invalidEscape, at: offset - 1)
    }
  }

  private mutating func unicodeEscape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
    let start = offset
    let high = try hexQuad(bytes)
    if let scalar = Unicode.Scalar(high) { return scalar }
    // A surrogate: only a high one followed by an escaped low one is a character.
    guard high < 0xDC00, try peek(bytes) == UInt8(ascii: "\\") else { throw JSONError(.invalidEscape, at: start) }
    offset += 1
    guard try peek(bytes) == UInt8(ascii: "u") else { throw JSONError(.invalidEscape, at: start) }
    offset += 1
    let low = try hexQuad(bytes)
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(high - 0xD800) << 10) + UInt32(low - 0xDC00))
    else { throw JSONError(.invalidEscape, at: start) }
    return scalar
  }

  private mutating func hexQuad(_ bytes: Span<UInt8>) throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch try peek(bytes) {
      case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): digit = byte - UInt8(ascii: "0")
      case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): digit = byte - UInt8(ascii: "a") + 10
      case let byte where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): digit = byte - UInt8(ascii: "A") + 10
      default: throw error(.invalidEscape)
      }
      value = value << 4 | UInt16(digit)
      offset += 1
    }
    return value
  }
}
