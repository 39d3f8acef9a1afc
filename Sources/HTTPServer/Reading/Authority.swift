/// A host with an optional port, as in `Host` and in an absolute target.
///
/// Narrower than RFC 3986 where readers differ: no user, no list, no percent escapes, no empty host or port. Every
/// client sends a name beyond ASCII in its `xn--` form.
enum Authority {
  static func isValid(_ text: Span<UInt8>) -> Bool {
    guard (1...longest).contains(text.count) else { return false }
    var end = 0
    if text[0] == UInt8(ascii: "[") {
      while end < text.count, text[end] != UInt8(ascii: "]") { end += 1 }
      guard end < text.count, isLiteral(text.extracting(1..<end)) else { return false }
      end += 1
    } else {
      while end < text.count, isNameCharacter(text[end]) { end += 1 }
      guard end > 0 else { return false }
    }
    guard end < text.count else { return true }
    return text[end] == UInt8(ascii: ":") && isPort(text.extracting(end + 1..<text.count))
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x2D, 0x2E, 0x5F, 0x7E: true
    case _: byte.isLetter || byte.isDigit
    }
  }

  /// Whether it is an IPv6 address without a zone, which has no meaning on another machine.
  private static func isLiteral(_ bytes: Span<UInt8>) -> Bool {
    bytes.count >= 2 && !bytes.holdsOnly { $0 != UInt8(ascii: ":") }
      && bytes.holdsOnly { $0.hexadecimalValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
  }

  private static func isPort(_ bytes: Span<UInt8>) -> Bool {
    guard (1...5).contains(bytes.count), bytes.holdsOnly(\.isDigit) else { return false }
    var port = 0
    for index in bytes.indices { port = port * 10 + Int(bytes[index]) - 0x30 }
    return port <= 65_535
  }

  /// The most bytes of a DNS name, a colon and a port.
  private static let longest = 253 + 6
}
