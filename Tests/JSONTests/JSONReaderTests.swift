@Suite struct `The JSON reader` {
  @Test(
    arguments: [
      ("null", JSONValue.null), (" true ", true), ("\"\"", ""), ("[]", []), ("{}", [:]), ("0", 0), ("-1", -1),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("500628332437815653", 500_628_332_437_815_653),
      (#"{"b":[1,{"a":null}],"a":"x"}"#, ["b": [1, ["a": .null]], "a": "x"]),
      (#""\u00e9\uD83D\ude00\u0000""#, "é😀\u{0}"), ("\t\r\n [ 1 , 2 ] ", [1, 2]), (#"{"":{"":[]}}"#, ["": ["": []]]),
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
      ("\"\u{01}\"", .controlCharacter), ("'a'", .unexpectedByte), (#""\ud83d\n""#, .invalidEscape),
      (#""\ud83d\ud83d""#, .invalidEscape), (#""\u12"#, .truncated), (#""\u12g4""#, .invalidEscape),
      ("\u{FEFF}1", .unexpectedByte), ("+1", .unexpectedByte), ("1e", .truncated), ("1e+]", .invalidNumber),
      (".5", .unexpectedByte), ("-a", .invalidNumber), ("NaN", .unexpectedByte), ("{\"a\" 1}", .unexpectedByte),
      ("{\"a\":1 \"b\":2}", .unexpectedByte), ("[1 2]", .unexpectedByte), ("]", .unexpectedByte),
      ("\\", .unexpectedByte),
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

  @Test func `finds what ends a string wherever it stands`() throws {
    for length in 0..<100 {
      let plain = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
      #expect(try JSONReader.read(Array("\"\(plain)\"".utf8)) == .string(plain))
      #expect(try JSONReader.read(Array("\"\(plain)\\n\(plain)\"".utf8)) == .string("\(plain)\n\(plain)"))
      #expect(throws: JSONError(.controlCharacter, at: 1 + plain.utf8.count)) {
        try JSONReader.read(Array("\"\(plain)\u{1F}\(plain)\"".utf8))
      }
      #expect(throws: JSONError(.truncated, at: 1 + plain.utf8.count)) {
        try JSONReader.read(Array("\"\(plain)".utf8))
      }
    }
  }

  @Test func `finds the second of two equal keys wherever the two stand`() throws {
    for count in [3, 39, 40, 41, 60] {
      let keys = (0..<count).map { "key\($0)" }
      for (first, second) in [(0, count - 1), (0, 1), (count - 2, count - 1), (count / 2, count - 1)] {
        var doubled = keys
        doubled[second] = keys[first]
        let text = "{" + doubled.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let refused = #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        #expect(refused?.code == .duplicateKey)
        #expect(refused?.offset == offset(of: second, in: doubled))
      }
    }
  }

  @Test(arguments: [
    (#"[{"a":1,"b":2},{"a":3,"b":4}]"#, [["a", "b"], ["a", "b"]]),
    (#"[{"a":1,"b":2},{"b":3,"a":4},{"a":5,"b":6,"c":7}]"#, [["a", "b"], ["b", "a"], ["a", "b", "c"]]),
    (
      #"[{"purchase_date_ms":1},{"purchase_date_pst":2},{"purchase_date":3}]"#,
      [["purchase_date_ms"], ["purchase_date_pst"], ["purchase_date"]]
    ),
    (#"[{"a\"b":1},{"a\"b":2},{"\u0061":3},{"a":4}]"#, [["a\"b"], ["a\"b"], ["a"], ["a"]]),
    (#"[{"a":{"b":1},"c":2},{"a":{"b":3},"c":4},{}]"#, [["a", "c"], ["a", "c"], []]),
  ])
  func `reads each row by its own keys, whatever those of the row before`(text: String, keys: [[String]]) throws {
    let rows = try #require(try JSONReader.read(Array(text.utf8)).array)
    #expect(rows.map { $0.object?.map(\.key) } == keys)
  }

  @Test func `refuses in a row what the row before would let pass`() {
    for (text, code) in [
      (#"[{"a":1,"b":2},{"a":1,"a":2}]"#, JSONError.Code.duplicateKey), (#"[{"a\"b":1},{"a"b":2}]"#, .unexpectedByte),
      (#"[{"ab":1},{"ab"#, .truncated),
    ] {
      let refused = #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
      #expect(refused?.code == code, "\(text)")
    }
  }

  private func offset(of place: Int, in keys: [String]) -> Int {
    1 + keys[..<place].map { $0.utf8.count + 5 }.reduce(0, +)
  }

  @Test(
    arguments: [
      ("1697679936049.7297", Int64?.none, Int64?(1_697_679_936_050)), ("1.0", 1, 1), ("1e3", 1_000, 1_000),
      ("-62135769600000", -62_135_769_600_000, -62_135_769_600_000), ("1e400", nil, nil), ("-0.5", nil, -1),
      ("9007199254740993.0", 9_007_199_254_740_993, 9_007_199_254_740_993), ("0.00", 0, 0), ("-0", 0, 0),
      ("9223372036854775807.0", .max, .max), ("9223372036854775807.5", nil, nil),
      ("-9223372036854775808.0", .min, .min),
      ("9223372036854775808", nil, nil), ("-9223372036854775809", nil, nil), ("0.49999999999999999999", nil, 0),
      ("0.5e1", 5, 5), ("125e-2", nil, 1), ("1500e-3", nil, 2), ("120e-1", 12, 12), ("0.05", nil, 0), ("5e-1", nil, 1),
      ("0.009e3", 9, 9), ("0e999999999999999999999", 0, 0), ("1e-999999999999999999999", nil, 0), ("1E+2", 100, 100),
      ("1e19", nil, nil), ("0.0000000000000000000012e21", nil, 1), ("-2.5", nil, -3), ("2.4999", nil, 2),
    ] as [(String, Int64?, Int64?)])
  func `keeps numbers as written and rounds milliseconds only`(text: String, integer: Int64?, rounded: Int64?) throws {
    let value = try JSONReader.read(Array(text.utf8))
    #expect(value.integer == integer)
    #expect(value.milliseconds?.sinceEpoch == rounded)
    #expect(value.encoded() == Array(text.utf8))
  }

  @Test func `reads or refuses damaged documents, and never stops the process`() {
    let whole = Array(#"{"a":[1,-2.5e3,"\u00e9\ud83d\ude00é"],"b":{"c":null,"d":[true,false,{}]},"e":"\"\\"}"#.utf8)
    var random = SeededRandom()
    for _ in 0..<3_000 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = damaged.indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: damaged[place] = .random(in: .min ... .max, using: &random)
        case 1: damaged.removeSubrange(place...)
        default: damaged.insert(whole.randomElement(using: &random) ?? 0, at: place)
        }
        if damaged.isEmpty { damaged = whole }
      }
      if let value = try? JSONReader.read(damaged) {
        #expect((try? JSONReader.read(value.encoded())) == value, "seed \(random.seed)")
      }
    }
  }

  @Test func `agrees with Foundation on random documents and reads back what it writes`() throws {
    var random = SeededRandom()
    for _ in 0..<300 {
      let value = randomValue(depth: 4, using: &random)
      let bytes = value.encoded()
      #expect(try JSONReader.read(bytes) == value, "seed \(random.seed)")
      let theirs = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      let ours = try JSONSerialization.jsonObject(
        with: Data(JSONReader.read(bytes).canonicallyEncoded()), options: .fragmentsAllowed)
      #expect((theirs as? NSObject) == (ours as? NSObject), "seed \(random.seed)")
    }
  }

  private func randomValue(depth: Int, using random: inout some RandomNumberGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth == 0 ? 4 : 6), using: &random) {
    case 0: .null
    case 1: .bool(.random(using: &random))
    case 2: .integer(.random(in: .min ... .max, using: &random))
    case 3:
      .string(
        (0..<5).map { _ in ["a", "\"", "\\", "\n", "é", "😀", "\u{01}"].randomElement(using: &random) ?? "" }.joined())
    case 4: .array((0..<3).map { _ in randomValue(depth: depth - 1, using: &random) })
    default:
      .object(JSONObject((0..<3).map { ("k\($0)é", randomValue(depth: depth - 1, using: &random)) }))
    }
  }
}
