import Support
import Testing

@testable import Compression

@Suite struct `A zstd frame` {
  @Test(arguments: [0, 1, 100, 70_000, 3 << 20]) func `holds what was compressed`(count: Int) throws {
    for bytes in [[UInt8](repeating: 7, count: count), (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0) }] {
      let frame = ZstdFrame.compress(bytes)
      #expect(try ZstdFrame.open(frame[...], upTo: count) == bytes)
      #expect(try ZstdFrame.open(([9] + frame)[1...], upTo: count) == bytes)
      if count > 0 { #expect(throws: CompressionError.self) { try ZstdFrame.open(frame[...], upTo: count - 1) } }
    }
  }

  @Test func `does not open where it is damaged, cut off or none`() {
    let frame = ZstdFrame.compress(Array("0123456789 0123456789 0123456789".utf8))
    for count in 0..<frame.count {
      #expect(throws: CompressionError.self) { try ZstdFrame.open(frame.prefix(count), upTo: 1 << 20) }
    }
    #expect(throws: CompressionError.self) { try ZstdFrame.open([1, 2, 3, 4], upTo: 1 << 20) }
  }
}
