/// Where in a text a compact JWS stands: three runs of base64url letters with points between them.
struct JWSToken {
  let header: Range<Int>
  let payload: Range<Int>
  let signature: Range<Int>

  var end: Int { signature.upperBound }

  /// The next one at or after `start`; shorter runs than a JWS with certificates has are passed over.
  static func next(in text: [UInt8], from start: Int) -> JWSToken? {
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
      let header = run(from: offset)
      offset = header.upperBound + 1
      guard header.count >= shortestHeader, isPoint(header.upperBound) else { continue }
      let payload = run(from: offset)
      offset = payload.upperBound + 1
      guard !payload.isEmpty, isPoint(payload.upperBound) else { continue }
      return JWSToken(header: header, payload: payload, signature: run(from: offset))
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
