import Signing

/// A body that a stranger writes so that the search for secrets takes long.
struct HostileBody: Sendable {
  /// What it is made of, for people.
  let shape: String
  let bytes: [UInt8]

  /// Pieces that the search has something to do with, each by its name.
  private static let pieces: [(name: String, text: @Sendable (Int) -> String)] = [
    ("short passwords", { #"{"password":"\#($0 % 7)aaaaaaaaaaaaaaaaaaaaaaaa"}"# }),
    ("long passwords", { #"{"password":"\#(String(repeating: "a", count: 8_000))\#($0)"}"# }),
    ("passwords in other case", { #"{"PassWord":[["\#($0)",1],"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}"# }),
    (
      "nested passwords",
      { _ in
        String(repeating: #"{"password":"#, count: 24) + #""aaaaaaaaaa""# + String(repeating: "}", count: 24)
      }
    ),
    ("texts", { _ in #""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""# }),
    ("the word", { _ in #""password password Password password:""# }),
    ("assignments", { _ in #""password=1&password=2&a""# }),
    ("signs", { _ in #""password\#(String(repeating: ":", count: 64))""# }),
    ("escapes", { _ in #""\u0070assword\u003d\u0041\u00e9\n""# }),
    ("escapes alone", { _ in #""\#(String(repeating: #"\u0061"#, count: 40))""# }),
    ("registered secrets", { _ in #""\#(LegacySamples.secret)\#(LegacySamples.secret)""# }),
    (
      "nearly registered secrets", { _ in #""\#(String(repeating: LegacySamples.secret.dropLast() + "g", count: 3))""# }
    ),
    ("digits", { _ in #""\#(String(repeating: "0123456789abcdef", count: 40))0""# }),
    ("names that are secrets", { #"{"\#(LegacySamples.secret)":\#($0),"[redacted]":1,"[redacted] \#($0)":"x"}"# }),
    ("JWS", { _ in #""\#(jws(#"{"a":"\#(String(repeating: "x", count: 200))"}"#))""# }),
    ("JWS of dense JSON", { _ in #""\#(jws("[" + String(repeating: "[0],", count: 400) + "0]"))""# }),
    ("JWS in JWS", { _ in #""\#(jws(#"{"a":"\#(jws(#"{"a":"\#(jws(#"{"b":["c","d","e"]}"#))"}"#))"}"#))""# }),
    ("dots", { _ in #""\#(String(repeating: "aaaaaaaaaaaaaaaa.", count: 20))""# }),
    ("numbers", { _ in "[1234567890123456,1.5e300]" }),
  ]

  private static func jws(_ payload: String) -> String {
    "eyJhbGciOiJFUzI1NiJ9.\(String(decoding: Base64.url.encode(Array(payload.utf8)), as: UTF8.self)).AAAAAAAAAAAAAAAA"
  }

  /// One of each piece.
  static func simple() -> [Self] { pieces.indices.map { made(of: [$0]) } }

  /// One of a few pieces in turns.
  static func random(_ generator: inout Generator) -> Self {
    made(
      of: (0..<Int.random(in: 2...5, using: &generator)).map { _ in pieces.indices.randomElement(using: &generator) ?? 0
      })
  }

  private static let length = 900_000
  /// A body of more is refused as soon as it is read.
  private static let values = 60_000

  private static func made(of chosen: [Int]) -> Self {
    var text = #"{"notification_type":"DID_RENEW","password":"\#(LegacySamples.secret)","x":[0"#
    var (number, count) = (0, 0)
    while text.utf8.count < length, count < values {
      let piece = pieces[chosen[number % chosen.count]].text(number)
      count += 1 + piece.utf8.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
      text += "," + piece
      number += 1
    }
    return Self(shape: chosen.map { pieces[$0].name }.joined(separator: ", "), bytes: Array((text + "]}").utf8))
  }

  /// SplitMix64, so that every run tries the same bodies.
  struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}
