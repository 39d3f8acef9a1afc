/// The first 16 bytes of a SHA-256: what a receipt is remembered by.
///
/// Cryptographic, because otherwise somebody could make a receipt that passes for another one's repetition.
package struct ReceiptDigest: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    // All zero marks a free place.
    self.low = high == 0 && low == 0 ? 1 : low
  }

  /// Of at least 16 bytes.
  package init(_ bytes: [UInt8]) {
    func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: word(0), low: word(8))
  }
}

/// A set of digests in little more than 16 bytes each.
///
/// 256 open-addressing tables with linear probing, each at most 85 % full: they grow one at a time, so that there are
/// never two copies of everything.
package struct DigestTable: Sendable {
  package private(set) var count = 0
  private var shards = [Shard](repeating: Shard(), count: 256)

  package init() {}

  /// Whether `digest` is new; from now on it is not.
  package mutating func insert(_ digest: ReceiptDigest) -> Bool {
    guard shards[Int(digest.high >> 56)].insert(digest) else { return false }
    count += 1
    return true
  }

  package func contains(_ digest: ReceiptDigest) -> Bool { shards[Int(digest.high >> 56)].contains(digest) }

  private struct Shard: Sendable {
    /// Two words a place.
    private var words: [UInt64] = []
    private var count = 0

    private var places: Int { words.count / 2 }

    func contains(_ digest: ReceiptDigest) -> Bool {
      if words.isEmpty { return false }
      let place = place(of: digest)
      return words[place] != 0 || words[place + 1] != 0
    }

    mutating func insert(_ digest: ReceiptDigest) -> Bool {
      if count * 20 >= places * 17 { grow() }
      let place = place(of: digest)
      if words[place] != 0 || words[place + 1] != 0 { return false }
      (words[place], words[place + 1]) = (digest.high, digest.low)
      count += 1
      return true
    }

    /// Where it is, or the free place where it belongs.
    private func place(of digest: ReceiptDigest) -> Int {
      // Multiplying instead of dividing; the top byte is the shard's and says nothing here.
      var index = Int(((digest.high << 8 | digest.low >> 56) >> 32) * UInt64(places) >> 32)
      while true {
        let place = index * 2
        let (high, low) = (words[place], words[place + 1])
        if high == digest.high && low == digest.low || high == 0 && low == 0 { return place }
        index = index + 1 == places ? 0 : index + 1
      }
    }

    private mutating func grow() {
      let old = words
      words = [UInt64](repeating: 0, count: max(16, places * 3 / 2) * 2)
      for place in stride(from: 0, to: old.count, by: 2) where old[place] != 0 || old[place + 1] != 0 {
        let digest = ReceiptDigest(high: old[place], low: old[place + 1])
        let new = self.place(of: digest)
        (words[new], words[new + 1]) = (digest.high, digest.low)
      }
    }
  }
}
