/// The choice between the two ES256 signatures of the same data.
///
/// If (r, s) is a valid signature, so is (r, n − s), which any sender can compute without the key. Both must count as
/// one message, so messages are compared in the low form, s ≤ n/2. (SEC 1, 4.1.3; the form is the one that BIP 62
/// chose.)
package enum CanonicalSignature: Sendable {
  case low, high

  /// 64 bytes in base64url without padding.
  private static let letters = 86
  private static let half = Array(0..<32).map { place in
    let order = place == 0 ? 0 : n[place - 1]
    return n[place] >> 1 | (order & 1) << 7
  }
  /// The order of P-256 (SEC 2, 2.4.2).
  private static let n: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA,
    0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  /// Returns the text with the signature of every compact JWS in this form, and their number.
  ///
  /// Nothing is verified; text without a signature of 64 bytes stays unchanged.
  package func applied(to text: [UInt8]) -> (text: [UInt8], signatures: Int) {
    var (result, count, place) = (text, 0, 0)
    while let point = text[place...].firstIndex(of: UInt8(ascii: ".")) {
      place = point + 1
      guard Self.isSignature(in: text, after: point) else { continue }
      let range = place..<(place + Self.letters)
      guard let signature = Base64.url.decode(text, in: range) else { continue }
      count += 1
      place = range.upperBound
      if let other = other(than: signature) { result.replaceSubrange(range, with: Base64.url.encode(other)) }
    }
    return (result, count)
  }

  /// Returns a compact JWS with its signature in this form, reading only its end.
  package func applied(toJWS jws: [UInt8]) -> [UInt8] {
    let range = max(0, jws.count - Self.letters)..<jws.count
    guard range.lowerBound > 0, jws[range.lowerBound - 1] == UInt8(ascii: "."),
      let other = Base64.url.decode(jws, in: range).flatMap({ other(than: $0) })
    else { return jws }
    var result = jws
    result.replaceSubrange(range, with: Base64.url.encode(other))
    return result
  }

  /// Returns the signature in this form; `nil` if it already is, or if it is invalid.
  private func other(than signature: [UInt8]) -> [UInt8]? {
    let s = signature[32...]
    guard !s.allSatisfy({ $0 == 0 }), s.lexicographicallyPrecedes(Self.n),
      Self.half.lexicographicallyPrecedes(s) == (self == .low)
    else { return nil }
    return signature[..<32] + Self.complement(of: s)
  }

  /// Whether the third part of a compact JWS follows the point.
  private static func isSignature(in text: [UInt8], after point: Int) -> Bool {
    let end = point + 1 + letters
    guard end <= text.count, text[(point + 1)..<end].allSatisfy(\.isBase64URL) else { return false }
    if end < text.count, text[end].isBase64URL || text[end] == UInt8(ascii: ".") { return false }
    var payload = point
    while payload > 0, text[payload - 1].isBase64URL { payload -= 1 }
    return payload < point && payload > 1 && text[payload - 1] == UInt8(ascii: ".") && text[payload - 2].isBase64URL
  }

  /// Returns n − s.
  private static func complement(of s: ArraySlice<UInt8>) -> [UInt8] {
    var (result, borrow) = (n, 0)
    for place in (0..<32).reversed() {
      let difference = Int(n[place]) - Int(s[s.startIndex + place]) - borrow
      result[place] = UInt8(truncatingIfNeeded: difference)
      borrow = difference < 0 ? 1 : 0
    }
    return result
  }
}
