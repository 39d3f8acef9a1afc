@Suite struct `A search for a byte` {
  @Test func `finds the first and the last within its bounds`() {
    var random = SeededRandom()
    for _ in 0..<2_000 {
      // Few values, and those that differ from the byte in one bit.
      let bytes: [UInt8] = (0..<Int.random(in: 0...70, using: &random)).map { _ in
        [0x0A, 0x0B, 0x8A, 0x00, 0x09, 0xFF].randomElement(using: &random) ?? 0
      }
      let start = Int.random(in: 0...bytes.count, using: &random)
      let end = Int.random(in: start...bytes.count, using: &random)
      let part = bytes[start..<end]
      #expect(bytes.span.firstIndex(of: 0x0A, from: start, before: end) == part.firstIndex(of: 0x0A))
      #expect(bytes.span.lastIndex(of: 0x0A, from: start, before: end) == part.lastIndex(of: 0x0A))
    }
  }

  @Test func `finds the first of several bytes within its bounds`() {
    var random = SeededRandom()
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
      let wanted = (0..<Int.random(in: 0...4, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
      let start = Int.random(in: 0...bytes.count, using: &random)
      let end = Int.random(in: start...bytes.count, using: &random)
      let expected = (start..<max(start, end - wanted.count + 1)).first { place in
        !wanted.isEmpty && bytes[place..<(place + wanted.count)].elementsEqual(wanted)
      }
      let found = bytes.span.firstRange(of: wanted.span, from: start, before: end)
      #expect(found == expected.map { $0..<($0 + wanted.count) })
    }
  }

  @Test func `takes no longer for bytes that are nearly everywhere`() {
    let text = [UInt8](repeating: 0x61, count: 4 << 20)
    let wanted = [UInt8](repeating: 0x61, count: 256 << 10) + [0x62]
    let time = ContinuousClock().measure {
      for _ in 0..<16 { #expect(text.span.firstRange(of: wanted.span, from: 0, before: text.count) == nil) }
    }
    #expect(time < .seconds(20), "\(time)")
  }

  @Test func `finds nothing where nothing is`() {
    #expect([UInt8]().span.firstIndex(of: 0, from: 0, before: 0) == nil)
    #expect([UInt8]().span.lastIndex(of: 0, from: 0, before: 0) == nil)
    #expect([1, 2, 1].span.lastIndex(of: 1, from: 2, before: 1) == nil, "the end lies before the beginning")
  }
}
