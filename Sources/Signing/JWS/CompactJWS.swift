import Glibc

/// The ranges of a compact JWS's three segments, without their contents.
package struct CompactJWS: Sendable {
  package let header: Range<Int>
  package let payload: Range<Int>
  package let signature: Range<Int>

  /// Throws above `limit` bytes and for any number of segments except three.
  package init(_ bytes: [UInt8], limit: Int) throws(VerificationError) {
    guard bytes.count <= limit else {
      throw VerificationError(.tooLarge, "\(bytes.count) bytes, at most \(limit) are accepted")
    }
    guard let first = Self.dot(in: bytes, from: 0), let second = Self.dot(in: bytes, from: first + 1),
      Self.dot(in: bytes, from: second + 1) == nil
    else { throw VerificationError(.notAJWS, "a JWS has three segments separated by dots") }
    header = 0..<first
    payload = first + 1..<second
    signature = second + 1..<bytes.count
  }

  private static func dot(in bytes: [UInt8], from start: Int) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let found = unsafe memchr(base + start, Int32(UInt8(ascii: ".")), bytes.count - start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - base
    }
  }

  static func decode(
    _ segment: Range<Int>, called name: String, of bytes: [UInt8]
  ) throws(VerificationError) -> [UInt8] {
    guard let decoded = Base64.url.decode(bytes, in: segment) else {
      throw VerificationError(.invalidBase64, "the \(name) is not base64url")
    }
    return decoded
  }
}
