/// Where in a text a compact JWS stands: three runs of base64url letters with points between them.
struct JWSToken {
  let header: Range<Int>
  let payload: Range<Int>
  let signature: Range<Int>

  var end: Int { signature.upperBound }

  /// The next one at or after `start`; shorter runs than a JWS with certificates has are passed over.
  static func next(in text: [UInt8], from start: Int) -> JWSToken? {
    var offset = start
    while offset < text.count {
      while offset < text.count, !isLetter[Int(text[offset])] { offset += 1 }
      let header = run(in: text, from: &offset)
      guard header.count >= shortestHeader else { continue }
      guard offset < text.count, text[offset] == point else { continue }
      offset += 1
      let payload = run(in: text, from: &offset)
      guard offset < text.count, text[offset] == point, !payload.isEmpty else { continue }
      offset += 1
      let signature = run(in: text, from: &offset)
      return JWSToken(header: header, payload: payload, signature: signature)
    }
    return nil
  }

  private static let point = UInt8(ascii: ".")
  private static let shortestHeader = 200

  private static let isLetter: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8 { table[Int(letter)] = true }
    return table
  }()

  private static func run(in text: [UInt8], from offset: inout Int) -> Range<Int> {
    let start = offset
    while offset < text.count, isLetter[Int(text[offset])] { offset += 1 }
    return start..<offset
  }
}
