@testable import Ledger

@Suite struct `A compact body` {
  private static let header = String(decoding: Base64.url.encode(.init(repeating: 0x5A, count: 300)), as: UTF8.self)

  private func isRestored(_ body: [UInt8]) throws -> Bool {
    let compact = CompactBody(body)
    #expect(try CompactBody.headers(in: compact.bytes) == Set(compact.headers.keys))
    return try CompactBody.expand(compact.bytes, headers: compact.headers) == body
  }

  /// Three segments of the form of a JWS, with a signature of 64 bytes.
  private static func jws(_ payload: [UInt8], header: String = header) -> String {
    let segments = [payload, .init(repeating: 7, count: 64)].map { Base64.url.encode($0) }
    return ([header] + segments.map { String(decoding: $0, as: UTF8.self) }).joined(separator: ".")
  }

  @Test func `of a story gives every message back, and is far smaller`() throws {
    let start = SignedStory.start
    let messages = try Story.twoApps(seed: 3, start: start).told(
      by: .generate(at: start), forger: .generate(at: start))
    var sizes = (before: 0, after: 0)
    for message in messages {
      #expect(try isRestored(message.body), "\(message.caption)")
      sizes.before += message.body.count
      sizes.after += CompactBody(message.body).bytes.count
    }
    #expect(sizes.after * 5 < sizes.before, "\(sizes)")
  }

  @Test(arguments: [
    "", "{}", "{\n  \"signedPayload\" : \"\(jws([1, 2, 3]))\"\n}\n", #"{"signedPayload":"\u0065\#(jws([9]))\/"}"#,
    // Two headers; one JWS thrice.
    "\(jws([1])) \(jws([2], header: header + "xy")) \(jws([1])),\(jws([1]))",
    // Payloads within payloads, deeper than is looked at.
    jws(Array(jws(Array(jws(Array(jws(Array(jws(Array(jws([1]).utf8)).utf8)).utf8)).utf8)).utf8)),
    // No strict base64url: a length of 4n + 1, bits left over, padding.
    "\(header).AAAAA.\(String(repeating: "A", count: 86))", "\(header).AB.\(String(repeating: "A", count: 86))",
    "\(header).AA==.\(String(repeating: "A", count: 86))", "\(header).AAAA.\(String(repeating: "A", count: 85))B",
    // Of another signature's length, without one, with a fourth segment.
    "\(header).AAAA.AAAA", "\(header).AAAA.", "\(header).AAAA", "\(header)..\(header)", "\(jws([1])).AAAA",
    ".\(jws([1]))",
    String(repeating: "A", count: 20_000), String(repeating: header + ".", count: 50),
    String(repeating: ".", count: 1_000), "\(header).\(jws([1]))",
  ])
  func `is byte for byte what it was made of`(text: String) throws { #expect(try isRestored(Array(text.utf8))) }

  @Test func `gives random bytes and damaged JWS back too`() throws {
    var random = SeededRandom()
    let seed = random.seed
    let jws = Array("{\"signedPayload\":\"\(Self.jws(Array(Self.jws([1, 2]).utf8)))\"}".utf8)
    for _ in 0..<300 {
      let noise = (0..<Int.random(in: 0...600, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(try isRestored(noise), "seed \(seed)")
      var changed = jws
      for _ in 0..<3 {
        changed[.random(in: changed.indices, using: &random)] = .random(in: 0x20...0x7E, using: &random)
      }
      #expect(try isRestored(changed), "seed \(seed)")
    }
  }

  @Test func `takes a JWS apart wherever it begins, its header 200 letters or more`() {
    let header = String(repeating: "A", count: 200)
    for count in 0...450 {
      let before = String(repeating: "b", count: count)
      let body = "\(before)\"\(Self.jws([1], header: header)),\(before) \(Self.jws([2], header: header))"
      #expect(Array(CompactBody(Array(body.utf8)).headers.values) == [Array(header.utf8)], "\(count)")
      let short = "\(before)\"\(Self.jws([1], header: String(header.dropFirst())))"
      #expect(CompactBody(Array(short.utf8)).headers.isEmpty, "\(count)")
    }
  }

  @Test func `says of damaged bytes that they are, and which header is missing`() throws {
    let compact = CompactBody(Array(Self.jws([1, 2, 3]).utf8))
    let digest = try #require(compact.headers.keys.first)
    #expect(throws: CompactBody.Damage.missingHeader(digest)) { try CompactBody.expand(compact.bytes, headers: [:]) }
    let damaged: [[UInt8]] = [
      [0], [0, 0, 0, 0], [0, 0, 0, 0, 1], [2, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0xFF, 0xFF, 0xFF, 0xFF],
      Array(compact.bytes.dropLast()), compact.bytes + [9], [1, 0, 0, 0, 95] + .init(repeating: 0, count: 95),
    ]
    for bytes in damaged {
      #expect(throws: CompactBody.Damage.malformed) { try CompactBody.expand(bytes, headers: compact.headers) }
      #expect(throws: CompactBody.Damage.malformed) { try CompactBody.headers(in: bytes) }
    }
    #expect(try CompactBody.expand([], headers: [:]) == [])
  }

  /// Whatever stands there: an answer or a reason, never a crash.
  @Test func `survives any change of one stored byte`() {
    let compact = CompactBody(Array(Self.jws(Array(Self.jws([1, 2]).utf8)).utf8))
    for place in compact.bytes.indices {
      for change: UInt8 in [0x01, 0x80, 0xFF] {
        var bytes = compact.bytes
        bytes[place] ^= change
        _ = try? CompactBody.expand(bytes, headers: compact.headers)
      }
    }
  }
}
