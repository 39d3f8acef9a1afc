@testable import JSON

/// Names of members are bytes: what Unicode takes for the same text may be two names.
@Suite struct `A name that can be written in two ways` {
  /// Composed and decomposed; two marks in either order, of one length; a sign that stands for a letter.
  private static let pairs = [
    ("\u{E9}", "e\u{301}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{212A}", "K"), ("x\u{212B}", "x\u{C5}"),
  ]

  @Test(arguments: pairs) func `is two names, in whichever object`(one: String, other: String) throws {
    #expect(one == other && !one.hasBytes(of: other) && KeyBytes(key: one) != KeyBytes(key: other))
    for more in [0, 60] {
      let others = (0..<more).map { ",\"m\($0)\":0" }.joined()
      let object = try #require(JSONReader.read(Array("{\"\(one)\":1,\"\(other)\":2\(others)}".utf8)).object)
      #expect(object.count == 2 + more && object[one] == 1 && object[other] == 2)
      let twice = Array("{\"\(one)\":1\(others),\"\(other)\":2,\"\(one)\":3}".utf8)
      #expect(throws: JSONError.self) { try JSONReader.read(twice) }
      let found = try JSONReader.text(
        of: one, in: Array("{\"\(other)\":\"b\",\"\(one)\":\"a\"}".utf8), longest: 9, limits: .standard)
      #expect(found == "a")
    }
    var memory = KeyMemory<Int>()
    #expect(memory.meaning(of: one, at: 0) { _ in 1 } == 1)
    #expect(memory.meaning(of: other, at: 0) { _ in 2 } == 2)
  }
}
