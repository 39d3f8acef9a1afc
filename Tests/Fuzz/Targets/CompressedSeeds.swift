/// What fuzzing of compressed streams begins with: each form that the two programs write, and streams put together.
enum CompressedSeeds {
  private static let gzip = [
    // A line, an empty file with a name, stored without compression, 20,000 zeros.
    "1f8b08000000000002ffcb48cdc9c957c84027b9000088590b18000000",
    "1f8b08080000000002ff610003000000000000000000",
    "1f8b0800000000000403010600f9ff73746f7265640bf9435606000000",
    "1f8b0800000000000203edc13101000000c2a0f54f6d0d0fa000000000000000000000000000000000000000783002532f97204e0000",
  ]
  private static let zstd = [
    // A line with its checksum, nothing, 20,000 zeros.
    "28b52ffd04686d00003868656c6c6f200a0100994b11a87c2ea8",
    "28b52ffd240001000099e9d851",
    "28b52ffd00584d000010000001001bce0eb0",
  ]
  /// A frame of four bytes that holds no data.
  private static let skippable = "502a4d180400000000000000"

  static func all() -> [[UInt8]] {
    var streams = gzip + zstd
    streams += [gzip.joined(), zstd.joined(), gzip[0] + "0000" + gzip[1], skippable + zstd[0]]
    streams += [String(repeating: gzip[1], count: 20), String(repeating: skippable, count: 20) + zstd[2]]
    return streams.enumerated().map { index, stream in
      let digits = Array(stream)
      let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(digits[$0...($0 + 1)]), radix: 16)
      }
      return [UInt8(index), UInt8(255 - index)] + bytes
    }
  }
}
