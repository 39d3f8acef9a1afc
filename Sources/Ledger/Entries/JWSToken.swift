import Signing

/// Where in a text a compact JWS stands: three runs of base64url letters with points between them.
struct JWSToken {
  let header: Range<Int>
  let payload: Range<Int>
  let signature: Range<Int>
  /// Whether the header is the one that was expected.
  let isExpected: Bool

  var end: Int { signature.upperBound }

  /// The next one at or after `start`; shorter runs than a JWS with certificates has are passed over.
  ///
  /// `expected` is a header that it may well have: it is recognised faster than its end is found.
  static func next(in text: [UInt8], from start: Int, expecting expected: [UInt8]) -> JWSToken? {
    let span = text.span
    var offset = start
    while let beginning = span.beginningOfLetters(atLeast: shortestHeader, from: offset) {
      let isExpected =
        !expected.isEmpty && span.holds(expected.span, at: beginning) && span.hasPoint(at: beginning + expected.count)
      let header = beginning..<(isExpected ? beginning + expected.count : span.endOfBase64URL(from: beginning))
      offset = header.upperBound + 1
      guard span.hasPoint(at: header.upperBound) else { continue }
      let payload = offset..<span.endOfBase64URL(from: offset)
      offset = payload.upperBound + 1
      guard !payload.isEmpty, span.hasPoint(at: payload.upperBound) else { continue }
      let signature = offset..<span.endOfBase64URL(from: offset)
      return JWSToken(header: header, payload: payload, signature: signature, isExpected: isExpected)
    }
    return nil
  }

  private static let shortestHeader = 200
}

extension Span<UInt8> {
  fileprivate func hasPoint(at offset: Int) -> Bool { offset < count && self[offset] == UInt8(ascii: ".") }

  /// Where the first run of at least `length` letters begins whose beginning is at or after `start`.
  ///
  /// Looked at from behind: one byte that is no letter rules out every beginning before it, and JSON has one every few.
  fileprivate func beginningOfLetters(atLeast length: Int, from start: Int) -> Int? {
    var start = start
    while count - start >= length {
      var end = start + length
      while end > start, self[end - 1].isBase64URL { end -= 1 }
      if end == start { return start }
      start = end
    }
    return nil
  }

  /// Whether `other` stands at `start`.
  ///
  /// In blocks without an early exit, so that the compiler compares 16 bytes at a time.
  fileprivate func holds(_ other: Span<UInt8>, at start: Int) -> Bool {
    guard count - start >= other.count else { return false }
    var offset = 0
    while other.count - offset >= 32 {
      let ours = extracting(start + offset..<start + offset + 32)
      let theirs = other.extracting(offset..<offset + 32)
      var difference: UInt8 = 0
      for place in 0..<32 { difference |= ours[place] ^ theirs[place] }
      guard difference == 0 else { return false }
      offset += 32
    }
    while offset < other.count, self[start + offset] == other[offset] { offset += 1 }
    return offset == other.count
  }
}
