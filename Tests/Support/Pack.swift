package import Compression

/// Streams of the compressed formats, with nothing compressed in them: what a reader has to understand all the same.
package enum Pack {
  package static func packed(_ bytes: [UInt8], _ format: CompressionFormat) -> [UInt8] {
    switch format {
    case .none: bytes
    case .gzip: gzip(bytes)
    case .zstd: zstd(bytes)
    }
  }

  /// What `format` opens to, taken in pieces and given in pieces.
  package static func opened(
    _ bytes: [UInt8], _ format: CompressionFormat, piece: Int, limit: Int
  ) throws -> [UInt8] {
    guard let opener = try format.decompressor() else { return bytes }
    var opened: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      opener.take(Array(bytes[start..<min(bytes.count, start + piece)]))
      while case let part = try opener.next(upTo: limit), !part.isEmpty { opened += part }
    }
    return opener.isComplete ? opened : []
  }

  /// RFC 1952 with the stored blocks of RFC 1951.
  private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    var start = 0
    repeat {
      let end = min(bytes.count, start + 65_535)
      let length = little(UInt32(end - start)).prefix(2)
      out += [end == bytes.count ? 1 : 0] + length + length.map { ~$0 } + bytes[start..<end]
      start = end
    } while start < bytes.count
    return out + little(crc32(bytes)) + little(UInt32(bytes.count))
  }

  /// RFC 8878 with raw blocks, no checksum.
  private static func zstd(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0b1010_0000] + little(UInt32(bytes.count))
    var start = 0
    repeat {
      let end = min(bytes.count, start + 100_000)
      out += little(UInt32(end - start) << 3 | (end == bytes.count ? 1 : 0)).prefix(3) + bytes[start..<end]
      start = end
    } while start < bytes.count
    return out
  }

  private static func little(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = ~0
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return ~crc
  }
}
