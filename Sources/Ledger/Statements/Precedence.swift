import Purchases
import Time

/// A rank as 24 bytes in sort order: the time with its sign flipped, then the tie-break.
enum Precedence {
  static let size = 24

  static func bytes(_ rank: Rank) -> [UInt8] {
    let time = UInt64(bitPattern: rank.asOf.sinceEpoch) ^ (1 << 63)
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * UInt64($0))) }
    bytes.reserveCapacity(size)
    bytes += rank.tieBreak.prefix(size - 8)
    while bytes.count < size { bytes.append(0) }
    return bytes
  }

  static func tieBreak(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst(8)) }
}
