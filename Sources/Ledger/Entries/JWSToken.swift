import Signing

/// The ranges of a compact JWS in a text: three runs of base64url letters with periods between them.
struct JWSToken {
  let header: Range<Int>
  let payload: Range<Int>
  let signature: Range<Int>
  let isExpected: Bool

  var end: Int { signature.upperBound }

  /// Returns the next JWS at or after `start`.
  ///
  /// Runs shorter than a JWS with certificates are skipped. `expected` is a likely header: to compare it is faster than
  /// to find its end.
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

  /// Returns the start of the first run of at least `length` letters that begins at or after `start`.
  ///
  /// It searches backward: one byte that is not a letter excludes every start before it.
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

  /// Whether `other` begins at `start`.
  ///
  /// It compares blocks without an early exit, so that the compiler compares 16 bytes at a time.
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
