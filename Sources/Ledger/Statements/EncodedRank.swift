import Purchases
import Time

/// A rank as 24 bytes in sort order: the time with its sign flipped, then the tie-break.
enum EncodedRank {
  static let size = 24

  static func bytes(_ rank: Rank) -> [UInt8] {
    let time = UInt64(bitPattern: rank.asOf.sinceEpoch) ^ (1 << 63)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: time >> shift)) }
    bytes += rank.tieBreak.prefix(size - 8)
    while bytes.count < size { bytes.append(0) }
    return bytes
  }

  static func tieBreak(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst(8)) }
}
