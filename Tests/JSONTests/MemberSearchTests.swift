@Suite struct `The search for one member` {
  private func found(_ text: String, longest: Int = 64, values: Int = 64) throws -> String? {
    let limits = JSONLimits(bytes: 4_096, depth: 4, values: values)
    return try JSONReader.text(of: "password", in: Array(text.utf8), longest: longest, limits: limits)
  }

  @Test(
    arguments: [
      (#"{"password":"x"}"#, "x"), (#" { "a" : [ {"password":"no"}, 1e3 ] , "password" : "x" } "#, "x"),
      (#"{"receipt-data":"AA\/\"BB","password":"\u0078y"}"#, "xy"), (#"{"p\u0061ssword":"x"}"#, "x"),
      (#"{"password":"x","a":-1.5e9,"b":null,"c":{"d":[[]]},"e":true}"#, "x"), ("{}", nil), ("[]", nil),
      (#"{"password":1}"#, nil), (#"{"password":["x"]}"#, nil), (#"{"passwords":"x"}"#, nil),
      (#"{"":"password"}"#, nil), ("\"password\"", nil),
    ] as [(String, String?)])
  func `finds what reading the whole finds`(text: String, expected: String?) throws {
    #expect(try found(text) == expected)
    #expect(try JSONReader.read(Array(text.utf8)).object?["password"]?.string == expected)
  }

  @Test(
    arguments: [
      ("", JSONError.Code.truncated), ("{", .truncated), (#"{"password":"x"#, .truncated), (#"{"a":"\"#, .truncated),
      (#"{"password":"x","password":"y"}"#, .duplicateKey), (#"{"a":[[[[]]]]}"#, .tooDeep),
      (#"{"a" 1}"#, .unexpectedByte),
      (#"{"a":1 "b":2}"#, .unexpectedByte), (#"{"a":]}"#, .unexpectedByte), (#"{"a":"\#u{01}"}"#, .controlCharacter),
      (#"{"password":"\x"}"#, .invalidEscape), (#"{"a":,}"#, .unexpectedByte), ("{a:1}", .unexpectedByte),
    ] as [(String, JSONError.Code)])
  func `refuses what has no members, or two of the name`(text: String, code: JSONError.Code) {
    let refused = #expect(throws: JSONError.self) { try found(text) }
    #expect(refused?.code == code)
  }

  @Test func `goes through a bounded number of members and brackets`() {
    for text in [
      "{" + String(repeating: "\"a\":0,", count: 100) + "\"password\":\"x\"}",
      "{\"a\":[" + String(repeating: "[],", count: 100) + "0],\"password\":\"x\"}",
    ] {
      let refused = #expect(throws: JSONError.self) { try found(text) }
      #expect(refused?.code == .tooManyValues)
      #expect(throws: Never.self) { try found(text, values: 200) }
    }
  }

  @Test func `takes a long text for none, however it is written`() throws {
    for letter in ["x", "\\u0078"] {
      #expect(try found("{\"password\":\"\(String(repeating: letter, count: 64))\"}")?.utf8.count == 64)
      #expect(try found("{\"password\":\"\(String(repeating: letter, count: 65))\"}") == nil)
    }
  }
}
