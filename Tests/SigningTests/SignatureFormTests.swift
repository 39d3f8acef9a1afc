@testable import Signing

@Suite struct `The form of a signature` {
  private static func jws(_ s: [UInt8]) -> [UInt8] {
    Array("eyJ.eyJ.".utf8) + Base64.url.encode([UInt8](repeating: 9, count: 32) + s)
  }

  /// n/2, rounded down, and its neighbour; 1 and n − 1.
  private static let half: [UInt8] = [
    0x7F, 0xFF, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xDE, 0x73, 0x7D,
    0x56, 0xD3, 0x8B, 0xCF, 0x42, 0x79, 0xDC, 0xE5, 0x61, 0x7E, 0x31, 0x92, 0xA8,
  ]
  private static let one = [UInt8](repeating: 0, count: 31) + [1]

  @Test(arguments: [half, one])
  func `has one other`(low: [UInt8]) {
    let (low, high) = (Self.jws(low), FlippedSignatures.flipped(Self.jws(low)))
    #expect(low != high && low.count == high.count)
    for jws in [low, high] {
      #expect(CanonicalSignature.low.applied(toJWS: jws) == low && CanonicalSignature.high.applied(toJWS: jws) == high)
      #expect(
        CanonicalSignature.low.applied(to: jws) == (low, 1) && CanonicalSignature.high.applied(to: jws) == (high, 1))
    }
  }

  @Test func `is changed wherever one stands, and nothing else is`() {
    let (low, high) = (Self.jws(Self.one), FlippedSignatures.flipped(Self.jws(Self.one)))
    let body = { (parts: [[UInt8]]) in
      Array("{\"a\":[\"".utf8) + Array(parts.joined(separator: Array("\",\"".utf8))) + Array("\"]}".utf8)
    }
    let result = CanonicalSignature.low.applied(to: body([high, low, high, Array("x.y".utf8)]))
    #expect(result == (body([low, low, low, Array("x.y".utf8)]), 3))
  }

  /// No s is 0 or n and more; a fourth part, a longer or a shorter one is no signature of ES256.
  @Test func `is no matter of what is no signature`() {
    let (low, high) = (Self.jws(Self.one), FlippedSignatures.flipped(Self.jws(Self.one)))
    let texts: [[UInt8]] = [
      [], Array(".".utf8), Array(high.dropFirst(4)), Array(high.dropLast()), high + [UInt8(ascii: "A")],
      high + Array(".x".utf8), Self.jws([UInt8](repeating: 0, count: 32)),
      Self.jws([UInt8](repeating: 0xFF, count: 32)),
      Array(high.suffix(86)), Array("\u{FF}".utf8) + high.suffix(87),
    ]
    for text in texts {
      #expect(
        CanonicalSignature.low.applied(to: text).text == text && CanonicalSignature.high.applied(to: text).text == text)
    }
    #expect(low.count == 94)
  }
}
