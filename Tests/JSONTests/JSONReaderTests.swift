import Foundation
import JSON
import Testing
import Time

@Suite struct `The JSON reader` {
  @Test(
    arguments: [
      ("null", JSONValue.null), (" true ", true), ("\"\"", ""), ("[]", []), ("{}", [:]), ("0", 0), ("-1", -1),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("500628332437815653", 500_628_332_437_815_653),
      (#"{"b":[1,{"a":null}],"a":"x"}"#, ["b": [1, ["a": .null]], "a": "x"]),
      (#""a\"\\\/\b\f\n\r\té😀""#, "a\"\\/\u{08}\u{0C}\n\r\té😀"),
    ] as [(String, JSONValue)])
  func `reads what RFC 8259 writes`(text: String, expected: JSONValue) throws {
    #expect(try JSONReader.read(Array(text.utf8)) == expected)
  }

  @Test(
    arguments: [
      ("", JSONError.Code.truncated), ("{", .truncated), ("[1", .truncated), ("\"a", .truncated), ("-", .truncated),
      ("01", .trailingBytes), ("1 2", .trailingBytes), ("{\"a\":1,}", .unexpectedByte), ("[1,]", .unexpectedByte),
      ("{a:1}", .unexpectedByte), ("1.x", .invalidNumber), ("nul", .truncated), ("nulx", .unexpectedByte),
      (#"{"a":1,"a":1}"#, .duplicateKey), (#"{"a":1,"\u0061":2}"#, .duplicateKey), (#""\x""#, .invalidEscape),
      (#""\ud800""#, .invalidEscape), (#""\ud800A""#, .invalidEscape), (#""\udc00""#, .invalidEscape),
      ("\"\u{01}\"", .controlCharacter), ("'a'", .unexpectedByte),
    ] as [(String, JSONError.Code)])
  func `refuses everything else with its reason`(text: String, code: JSONError.Code) {
    let refused = #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
    #expect(refused?.code == code)
  }

  @Test func `bounds depth, size and the cost of many keys`() throws {
    let limits = JSONLimits(bytes: 1_000, depth: 3)
    #expect(throws: JSONError(.tooDeep, at: 3)) { try JSONReader.read(Array("[[[[]]]]".utf8), limits: limits) }
    #expect(throws: JSONError(.tooLarge, at: 1_000)) {
      try JSONReader.read(Array(repeating: 0x20, count: 1_001), limits: limits)
    }
    let many = "{" + (0..<50_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
    #expect(try JSONReader.read(Array(many.utf8)).object?.count == 50_000)
    let twice = many.dropLast() + ",\"k7\":1}"
    #expect(throws: JSONError.self) { try JSONReader.read(Array(twice.utf8)) }
  }

  @Test func `refuses what is not UTF-8`() {
    #expect(throws: JSONError(.notUTF8, at: 1)) { try JSONReader.read([0x22, 0xFF, 0x22]) }
    #expect(throws: JSONError(.notUTF8, at: 1)) { try JSONReader.read([0x22, 0x5C, 0x6E, 0xC0, 0x80, 0x22]) }
  }

  @Test(
    arguments: [
      ("1697679936049.7297", Int64?.none, Int64?(1_697_679_936_050)), ("1.0", 1, 1), ("1e3", 1_000, 1_000),
      ("-62135769600000", -62_135_769_600_000, -62_135_769_600_000), ("1e400", nil, nil), ("-0.5", nil, -1),
    ] as [(String, Int64?, Int64?)])
  func `keeps numbers as written and rounds milliseconds only`(text: String, integer: Int64?, rounded: Int64?) throws {
    let value = try JSONReader.read(Array(text.utf8))
    #expect(value.integer == integer)
    #expect(value.milliseconds?.sinceEpoch == rounded)
    #expect(value.encoded() == Array(text.utf8))
  }

  @Test func `agrees with Foundation on random documents and reads back what it writes`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let value = randomValue(depth: 4, using: &random)
      let bytes = value.encoded()
      #expect(try JSONReader.read(bytes) == value)
      let theirs = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      let ours = try JSONSerialization.jsonObject(
        with: Data(JSONReader.read(bytes).canonicallyEncoded()), options: .fragmentsAllowed)
      #expect((theirs as? NSObject) == (ours as? NSObject))
    }
  }

  private func randomValue(depth: Int, using random: inout some RandomNumberGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth == 0 ? 4 : 6), using: &random) {
    case 0: .null
    case 1: .bool(.random(using: &random))
    case 2: .integer(.random(in: .min ... .max, using: &random))
    case 3:
      .string((0..<5).map { _ in ["a", "\"", "\\", "\n", "é", "😀", "\u{01}"].randomElement() ?? "" }.joined())
    case 4: .array((0..<3).map { _ in randomValue(depth: depth - 1, using: &random) })
    default:
      .object(JSONObject((0..<3).map { ("k\($0)é", randomValue(depth: depth - 1, using: &random)) }))
    }
  }
}
