/// A host with an optional port, as it stands in `Host` and in an absolute target.
///
/// Narrower than RFC 3986 where readers differ: no user, no list, no percent escapes, no empty host or port. A name
/// beyond ASCII is sent in its `xn--` form by every client.
enum Authority {
  static func isValid(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    guard bytes.count <= longest else { return false }
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), isLiteral(bytes[1..<end]) else { return false }
      bytes = bytes[(end + 1)...]
    } else {
      let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      guard end > 0, bytes[..<end].allSatisfy(isNameCharacter) else { return false }
      bytes = bytes[end...]
    }
    guard let colon = bytes.first else { return true }
    return colon == UInt8(ascii: ":") && isPort(bytes.dropFirst())
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
  }

  /// An IPv6 address; one with a zone means nothing on another machine.
  private static func isLiteral(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count >= 2 && bytes.contains(UInt8(ascii: ":"))
      && bytes.allSatisfy { $0.hexadecimalValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
  }

  private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
    (1...5).contains(bytes.count) && bytes.allSatisfy(\.isDigit)
      && bytes.reduce(0) { $0 * 10 + Int($1) - 0x30 } <= 65_535
  }

  /// The most bytes of a DNS name, a colon and a port.
  private static let longest = 253 + 6
}
