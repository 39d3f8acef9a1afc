@Suite struct `The DER reader` {
  private func element(_ bytes: [UInt8], limits: DERLimits = .standard) throws(DERError) -> DERElement {
    var reader = DERReader(limits: limits)
    var offset = 0
    return try reader.element(in: bytes.span, at: &offset, before: bytes.count)
  }

  @Test(
    arguments: [
      ([0x04, 0x00], 2..<2, 2), ([0x04, 0x01, 0xFF], 2..<3, 3), ([0x04, 0x81, 0x01, 0xFF], 3..<4, 4),
      ([0x04, 0x84, 0, 0, 0, 1, 0xFF], 6..<7, 7), ([0x30, 0x80, 0x05, 0x00, 0, 0], 2..<4, 6),
      ([0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0, 0xFF], 2..<6, 8), ([0x30, 0x80, 0, 0], 2..<2, 4),
    ] as [([UInt8], Range<Int>, Int)])
  func `finds where an element stands`(bytes: [UInt8], content: Range<Int>, end: Int) throws {
    let element = try element(bytes)
    #expect(element.content == content)
    #expect(element.end == end)
    #expect(element.whole == 0..<end)
  }

  @Test(
    arguments: [
      ([], .truncated), ([0x04], .truncated), ([0x04, 0x01], .truncated), ([0x04, 0x81], .truncated),
      ([0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], .truncated), ([0x30, 0x80], .truncated), ([0x30, 0x80, 0x00], .truncated),
      ([0x30, 0x80, 0x05, 0x00], .truncated), ([0x04, 0x80, 0x00, 0x00], .malformed), ([0x1F, 0x81, 0x00], .malformed),
      ([0x04, 0x85, 0, 0, 0, 0, 1, 0xFF], .malformed),
    ] as [([UInt8], DERError)])
  func `refuses what is no element`(bytes: [UInt8], error: DERError) {
    #expect(throws: error) { try element(bytes) }
  }

  @Test func `stops at its limits`() {
    let nested = (0..<100).map { UInt8($0 % 2 == 0 ? 0x30 : 0x80) }
    #expect(throws: DERError.tooDeep) { try element(nested, limits: DERLimits(depth: 12)) }
    let many: [UInt8] = [0x30, 0x80, 0x05, 0x00, 0x05, 0x00, 0x05, 0x00, 0, 0]
    #expect(throws: DERError.tooMany) { try element(many, limits: DERLimits(count: 3)) }
  }

  @Test func `gathers octets that were written in pieces`() throws {
    let bytes: [UInt8] = [0x24, 0x80, 0x04, 0x02, 1, 2, 0x24, 0x03, 0x04, 0x01, 3, 0x04, 0x00, 0, 0]
    var reader = DERReader()
    var offset = 0
    let element = try reader.element(in: bytes.span, at: &offset, before: bytes.count)
    guard case .gathered(let octets) = try reader.octets(of: element, in: bytes.span) else {
      Issue.record("not gathered")
      return
    }
    #expect(octets == [1, 2, 3])
    #expect(offset == bytes.count)
  }

  @Test func `knows the end of an element from the end of everything`() {
    // A sequence of three bytes whose only element says it has nine.
    let bytes: [UInt8] = [0x30, 0x03, 0x04, 0x09, 0x00, 0xFF]
    #expect(throws: DERError.malformed) { try second(of: bytes) }
  }

  private func second(of bytes: [UInt8]) throws(DERError) -> DERElement {
    var reader = DERReader()
    var offset = 0
    let outer = try reader.element(.sequence, in: bytes.span, at: &offset, before: bytes.count)
    offset = outer.content.lowerBound
    return try reader.element(in: bytes.span, at: &offset, before: outer.content.upperBound)
  }
}
