import Signing

/// A search filter for the shared secrets of the registered apps, even retired ones.
///
/// It finds 32 hexadecimal digits, as Apple creates secrets, in either case. A rolling hash finds candidates, and a
/// code under the filter's own key confirms them. It does not hold the secrets.
package struct SecretFilter: Sendable {
  package static let marker = "[redacted]"
  package static let digits = 32

  /// Random, so that an attacker cannot write texts whose hashes collide with those of secrets.
  private let base: UInt64
  /// `base` to the power of 32: the weight of the digit that leaves the window.
  private let leaving: UInt64
  private let hashes: Set<UInt64>
  /// A bit for the upper 16 bits of each hash, which excludes nearly every window.
  private let bits: [UInt64]
  private let key: MasterKey
  private let codes: Set<Digest>
  /// The names of registered apps that contain a secret.
  ///
  /// They are kept unchanged.
  private var exempt: Set<String> = []

  /// Creates a filter for secrets in Apple's format.
  ///
  /// Others are ignored.
  ///
  /// - Parameter names: the bundle IDs of registered apps.
  package init(_ secrets: [[UInt8]] = [], sparing names: [String] = []) {
    var base = UInt64.random(in: .min ... .max) | 1
    // A small base would leave the upper bits empty.
    while base < 1 << 32 { base = UInt64.random(in: .min ... .max) | 1 }
    let key = MasterKey.generate()
    var (hashes, bits, codes): (Set<UInt64>, [UInt64], Set<Digest>) = ([], [], [])
    for secret in secrets where secret.count == Self.digits && secret.allSatisfy(\.isHexDigit) {
      let lower = secret.map { $0 | 0x20 }
      let hash = lower.reduce(0) { $0 &* base &+ UInt64($1) }
      if bits.isEmpty { bits = [UInt64](repeating: 0, count: 1 << 10) }
      bits[Int(hash >> 54)] |= 1 << (hash >> 48 & 63)
      hashes.insert(hash)
      codes.insert(key.code(for: lower, purpose: Self.purpose))
    }
    self.base = base
    leaving = (0..<Self.digits).reduce(1) { power, _ in power &* base }
    (self.hashes, self.bits, self.key, self.codes) = (hashes, bits, key, codes)
    exempt = Set(names.filter { redacted($0) != $0 })
  }

  private static let purpose = "secret filter"

  /// Whether the text is the name of a registered app, which is kept even with a secret in it.
  package func spares(_ text: String) -> Bool { exempt.contains(text) }

  /// Returns the text with a marker instead of each secret.
  ///
  /// The name of a registered app is unchanged.
  package func redacted(_ text: String) -> String {
    guard text.utf8.count >= Self.digits, !spares(text) else { return text }
    return redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// Returns the bytes with a marker instead of each secret, or `nil` if they contain no secret.
  package func redacted(_ bytes: [UInt8]) -> [UInt8]? {
    let places = places(in: bytes)
    guard !places.isEmpty else { return nil }
    var (result, taken): ([UInt8], Int) = ([], 0)
    for place in places {
      result += bytes[taken..<place.lowerBound]
      result += Self.marker.utf8
      taken = place.upperBound
    }
    return result + bytes[taken...]
  }

  package func isFound(in bytes: [UInt8]) -> Bool {
    !places(in: bytes).isEmpty
  }

  private func places(in bytes: [UInt8]) -> [Range<Int>] {
    // Repeated secrets are confirmed once.
    var (places, found): ([Range<Int>], Set<[UInt8]>) = ([], [])
    if hashes.isEmpty { return places }
    // A run of 32 digits covers every 32nd byte, so the search reads few bytes of other texts.
    var place = Self.digits - 1
    while place < bytes.count {
      guard bytes[place].isHexDigit else {
        place += Self.digits
        continue
      }
      var (start, end) = (place, place + 1)
      while start > 0, bytes[start - 1].isHexDigit { start -= 1 }
      while end < bytes.count, bytes[end].isHexDigit { end += 1 }
      search(bytes, start..<end, &places, &found)
      place = end + Self.digits
    }
    return places
  }

  private func search(_ bytes: [UInt8], _ row: Range<Int>, _ places: inout [Range<Int>], _ found: inout Set<[UInt8]>) {
    guard row.count >= Self.digits else { return }
    var (hash, start): (UInt64, Int) = (0, row.lowerBound)
    for place in row {
      hash = hash &* base &+ UInt64(bytes[place] | 0x20)
      let count = place + 1 - start
      if count > Self.digits { hash &-= leaving &* UInt64(bytes[place - Self.digits] | 0x20) }
      guard count >= Self.digits, bits[Int(hash >> 54)] >> (hash >> 48 & 63) & 1 == 1, hashes.contains(hash)
      else { continue }
      let window = (place + 1 - Self.digits)..<(place + 1)
      guard isSecret(bytes[window].map { $0 | 0x20 }, &found) else { continue }
      places.append(window)
      (hash, start) = (0, place + 1)
    }
  }

  private func isSecret(_ lower: [UInt8], _ found: inout Set<[UInt8]>) -> Bool {
    if found.contains(lower) { return true }
    guard codes.contains(key.code(for: lower, purpose: Self.purpose)) else { return false }
    found.insert(lower)
    return true
  }
}

extension UInt8 {
  package var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
