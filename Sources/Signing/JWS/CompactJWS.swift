/// Where the three segments of a compact JWS are; their contents are not looked at.
package struct CompactJWS: Sendable {
  package let header: Range<Int>
  package let payload: Range<Int>
  package let signature: Range<Int>

  /// Refuses more than `limit` bytes and anything but three segments.
  package init(_ bytes: [UInt8], limit: Int) throws(VerificationError) {
    guard bytes.count <= limit else {
      throw VerificationError(.tooLarge, "\(bytes.count) bytes, at most \(limit) are accepted")
    }
    let dot = UInt8(ascii: ".")
    // From the end for the second one: the signature is short, the payload is not.
    guard let first = bytes.firstIndex(of: dot), let last = bytes.lastIndex(of: dot), first != last else {
      throw VerificationError(.notAJWS, "a JWS has three segments separated by dots")
    }
    header = 0..<first
    payload = first + 1..<last
    signature = last + 1..<bytes.count
  }

  /// The bytes of one segment.
  static func decode(_ segment: Range<Int>, called name: String, of bytes: [UInt8]) throws(VerificationError) -> [UInt8] {
    guard let decoded = Base64.url.decode(bytes, in: segment) else {
      throw VerificationError(.invalidBase64, "the \(name) is not base64url")
    }
    return decoded
  }
}
