@Suite struct `A JSON value` {
  @Test func `is what it is and nothing else`() {
    let values: [JSONValue] = [.null, true, 7, "7", [7], ["a": 7]]
    #expect(values.map(\.isNull) == [true, false, false, false, false, false])
    #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil])
    #expect(values.map(\.integer) == [nil, nil, 7, nil, nil, nil])
    #expect(values.map(\.milliseconds) == [nil, nil, Timestamp(7), nil, nil, nil])
    #expect(values.map(\.string) == [nil, nil, nil, "7", nil, nil])
    #expect(values.map(\.array) == [nil, nil, nil, nil, [7], nil])
    #expect(values.map(\.object) == [nil, nil, nil, nil, nil, ["a": 7]])
  }

  @Test(
    arguments: [
      (.null, "null"), (true, "true"), (false, "false"), (-5, "-5"), ([], "[]"), ([:], "{}"),
      ([1, "a", [:]], #"[1,"a",{}]"#), (["b": 1, "a": [.null]], #"{"b":1,"a":[null]}"#),
      ("é😀/", #""é😀/""#), ("\"\\\n\u{1F}\u{7F}", "\"\\\"\\\\\\u000a\\u001f\u{7F}\""),
      (
        "a long plain beginning of more than 32 bytes, then a \" quote",
        #""a long plain beginning of more than 32 bytes, then a \" quote""#
      ),
    ] as [(JSONValue, String)])
  func `is written compactly`(value: JSONValue, text: String) {
    #expect(String(decoding: value.encoded(), as: UTF8.self) == text)
  }

  @Test func `is written the same whatever the order of members, when asked to`() {
    let a: JSONValue = ["b": ["d": 1, "c": [["f": 1, "e": 2]]], "a": 1]
    let b: JSONValue = ["a": 1, "b": ["c": [["e": 2, "f": 1]], "d": 1]]
    #expect(a.encoded() != b.encoded())
    #expect(a.canonicallyEncoded() == b.canonicallyEncoded())
    #expect(a.canonicallyEncoded() == Array(#"{"a":1,"b":{"c":[{"e":2,"f":1}],"d":1}}"#.utf8))
  }
}

@Suite struct `A JSON object` {
  @Test func `keeps the order in which members came`() {
    var object: JSONObject = ["z": 1, "a": 2, "z": 3]
    #expect(object.map(\.key) == ["z", "a"])
    #expect(object["z"] == 3)
    object["m"] = 4
    object["a"] = nil
    object["none"] = nil
    #expect(object == ["z": 3, "m": 4])
    #expect(object.count == 2)
    #expect(!object.isEmpty)
    #expect(object["a"] == nil)
  }

  @Test func `sets the member that it would read, whatever marks its keys are written with`() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    var object: JSONObject = [composed: 1]
    #expect(object[decomposed] == nil)
    object[decomposed] = 2
    #expect(object.count == 2)
    #expect(object[composed] == 1)
    #expect(object[decomposed] == 2)
    object[composed] = nil
    #expect(object[composed] == nil)
    #expect(object[decomposed] == 2)
  }
}
