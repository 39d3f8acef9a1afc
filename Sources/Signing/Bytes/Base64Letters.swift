/// The letters of base64url in the segments of a JWS.
extension Span<UInt8> {
  /// Returns the end of the run of letters that begins at `start`.
  ///
  /// Reads 32 bytes at a time as whole numbers, because it runs for every byte that Apple sends, and vectors of
  /// comparisons are slower than single bytes (Swift 6.3).
  package func endOfBase64URL(from start: Int) -> Int {
    precondition(start >= 0)
    let end = count
    var offset = Swift.min(start, end)
    unsafe withUnsafeBytes { bytes in
      while end - offset >= 32 {
        let (a, b, c, d) = unsafe (
          bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).base64URLLetters,
          bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self).base64URLLetters,
          bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self).base64URLLetters,
          bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self).base64URLLetters
        )
        guard a & b & c & d == UInt64.highBits else { break }
        offset += 32
      }
    }
    while offset < end, self[offset].isBase64URL { offset += 1 }
    return offset
  }
}

extension UInt64 {
  fileprivate static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// The high bit of each of the eight bytes: whether it is a letter of base64url.
  fileprivate var base64URLLetters: UInt64 {
    // Without the high bits no sum reaches the next byte. A sum's high bit shows whether the byte is at least the
    // letter.
    let bytes = self & ~Self.highBits
    let small = bytes | 0x2020_2020_2020_2020
    let isAlphabetic = (small &+ Self.from(UInt8(ascii: "a"))) & ~(small &+ Self.from(UInt8(ascii: "z") + 1))
    let isDigit = (bytes &+ Self.from(UInt8(ascii: "0"))) & ~(bytes &+ Self.from(UInt8(ascii: "9") + 1))
    let isHyphen = (bytes &+ Self.from(UInt8(ascii: "-"))) & ~(bytes &+ Self.from(UInt8(ascii: "-") + 1))
    let isLine = (bytes &+ Self.from(UInt8(ascii: "_"))) & ~(bytes &+ Self.from(UInt8(ascii: "_") + 1))
    return (isAlphabetic | isDigit | isHyphen | isLine) & ~self & Self.highBits
  }

  /// Returns the summand that sets the high bit of each byte below 128 if it is at least `letter`.
  @inline(__always)
  private static func from(_ letter: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(0x80 - letter) }
}

extension UInt8 {
  /// Whether it is a letter of base64url; without branches.
  package var isBase64URL: Bool {
    let isAlphabetic = (self | 0x20) &- UInt8(ascii: "a") < 26
    let isDigit = self &- UInt8(ascii: "0") < 10
    let isSign = self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    return isAlphabetic || isDigit || isSign
  }
}
