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
    // Once for the whole text: each look at a static costs a check of its own.
    let isLetter = Self.isLetter
    func run(from start: Int) -> Range<Int> {
      var end = start
      while end < text.count, isLetter[Int(text[end])] { end += 1 }
      return start..<end
    }
    func isPoint(_ offset: Int) -> Bool { offset < text.count && text[offset] == UInt8(ascii: ".") }

    var offset = start
    while offset < text.count {
      let isExpected =
        !expected.isEmpty && text.span.holds(expected.span, at: offset) && isPoint(offset + expected.count)
      let header = isExpected ? offset..<offset + expected.count : run(from: offset)
      offset = header.upperBound + 1
      guard header.count >= shortestHeader, isPoint(header.upperBound) else { continue }
      let payload = run(from: offset)
      offset = payload.upperBound + 1
      guard !payload.isEmpty, isPoint(payload.upperBound) else { continue }
      return JWSToken(header: header, payload: payload, signature: run(from: offset), isExpected: isExpected)
    }
    return nil
  }

  private static let shortestHeader = 200

  private static let isLetter: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8 { table[Int(letter)] = true }
    return table
  }()
}

extension Span<UInt8> {
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
